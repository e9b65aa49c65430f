"""What tables seem to be, from a bounded part of each; one file per question, each a guess."""
