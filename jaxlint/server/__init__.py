"""The language server: findings, rules and fixes in editors, from the engine that `jaxlint check` uses."""
