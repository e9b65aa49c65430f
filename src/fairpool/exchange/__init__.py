"""What operator and parties send each other, all signed: plans, contributions, receipts."""
