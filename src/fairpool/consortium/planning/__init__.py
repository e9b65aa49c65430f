"""`fairpool plan`: what all parties agree to, made of what is known without any party's rows."""

from fairpool.consortium.planning.plan import plan_of
from fairpool.consortium.planning.writing import Change, Written, write_plan

__all__ = ["Change", "Written", "plan_of", "write_plan"]
