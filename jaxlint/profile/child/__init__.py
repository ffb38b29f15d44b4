"""What runs inside the profiled program: the standard library alone, for any Python that JAX runs on.

It is loaded by its folder under a name of its own, so that the program finds neither jaxlint nor its path. Nothing of
JAX or of the program is replaced: a listener of `jax.monitoring`, which JAX calls in the thread that traced or
compiled, looks up the stack for the call that it happened in. A cached call does not come here at all.
"""
