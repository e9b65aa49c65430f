"""What a recipient can check of its reward by itself, and what nobody but an auditor can."""
