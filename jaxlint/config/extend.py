"""A configuration file on top of the one that it extends."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import structs

from jaxlint.config.form import ConfigFile, VerifyTable


def merged(base: ConfigFile, own: ConfigFile, keys: Collection[str]) -> ConfigFile:
    """What holds where `own` extends `base`; `keys` are those that its file sets.

    A key that is set replaces that of the base. What extends, and tables of declarations, are joined.
    """
    changes = {field.name: getattr(own, field.name) for field in structs.fields(own) if field.encode_name in keys}
    changes["extend_exclude"] = (*base.extend_exclude, *own.extend_exclude)
    changes["wrappers"] = base.wrappers | own.wrappers
    changes["verify"] = VerifyTable(
        examples=base.verify.examples | own.verify.examples, run=own.verify.run or base.verify.run
    )
    return structs.replace(base, **changes)
