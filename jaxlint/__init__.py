"""jaxlint: finds misuse of JAX transforms, offers fixes, and proves them by running both versions."""

__version__ = "0.1.0"
