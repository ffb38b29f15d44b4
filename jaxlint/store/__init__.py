"""What earlier runs worked out, by content: lowered modules, texts that parse, findings of whole runs, the rules."""
