"""Puts the pages of the rules, which lie at the top for readers, into the package."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["jaxlint*"]), "jaxlint.rules.pages"],
    package_dir={"jaxlint.rules.pages": "rules"},
)
