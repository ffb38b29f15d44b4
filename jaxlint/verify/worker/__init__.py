"""What runs in the verifier's child processes. Only this package imports JAX or runs the user's code."""
