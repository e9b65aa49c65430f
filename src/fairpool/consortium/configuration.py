"""collaboration.toml: what the operator decides, checked as a whole before anything is computed."""

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fairpool.consortium.kernel_expression import parse_kernel
from fairpool.errors import FairpoolError
from fairpool.rewards.scheme import WORDS

FILE_NAME = "collaboration.toml"
Text = Annotated[str, Field(min_length=1)]


class ConfigurationError(FairpoolError):
    """The configuration or the data have problems; `problems` lists every one of them."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class Section(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ModelSection(Section):
    """[model]: which Bayesian model values the data and is handed out."""

    kind: Literal["gp", "sparse_gp", "blr", "network"] = "sparse_gp"
    kernel: Text = "rbf"
    learn: bool = True
    noise_variance: Annotated[float, Field(gt=0, strict=False)] | None = None
    prior_variance: Annotated[float, Field(gt=0, strict=False)] = 1.0
    inducing_points: Annotated[int, Field(ge=1)] = 50
    hidden_layers: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] = [100, 50]

    @field_validator("kernel")
    @classmethod
    def _kernel_can_be_read(cls, expression: str) -> str:
        parse_kernel(expression, 1)
        return expression

    @model_validator(mode="after")
    def _given_hyperparameters_are_complete(self) -> "ModelSection":
        if not self.learn and self.noise_variance is None:
            raise ValueError("learn = false needs noise_variance (in units of the standardised target)")
        return self


class DataSection(Section):
    """[public] and [test]: a CSV or Parquet file, a folder of them, or a glob."""

    data: Text


class RewardsSection(Section):
    """[rewards]: how fairness is traded for the other incentives, and what may be shown."""

    rho: Annotated[float, Field(ge=0, le=1, strict=False)] | Literal["fair", "rational", "stable", "welfare"] = "stable"
    share_inputs: bool = False


class PartySection(Section):
    """[[parties]]: one party's name and data."""

    name: Text
    data: Text

    @field_validator("name")
    @classmethod
    def _name_is_not_blank(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("a party's name must not be blank")
        return name


class Configuration(Section):
    """The whole file."""

    name: Text = "Collaboration"
    target: Text
    features: Annotated[list[Text], Field(min_length=1)] | None = None
    categorical: list[Text] | dict[Text, Annotated[list[Text], Field(min_length=1)]] = []
    missing: Literal["error", "drop"] = "error"
    model: ModelSection = ModelSection()
    public: DataSection | None = None
    test: DataSection | None = None
    rewards: RewardsSection = RewardsSection()
    parties: Annotated[list[PartySection], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_do_not_clash(self) -> "Configuration":
        names = [party.name for party in self.parties]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f'two parties are named "{twice[0]}"; names must differ')
        if self.features is not None and self.target in self.features:
            raise ValueError(f'the target "{self.target}" is also listed under features; leave it out there')
        if self.target in self.categorical:
            raise ValueError(f'the target "{self.target}" is listed under categorical; it must be a number')
        return self


assert set(get_args(get_args(RewardsSection.model_fields["rho"].annotation)[1])) == set(WORDS)


def load_configuration(folder: Path) -> Configuration:
    """Read `collaboration.toml` of a folder, or the file itself; every problem is found at once."""
    path = folder / FILE_NAME if folder.is_dir() else folder
    try:
        text = path.read_bytes().decode("utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        raise ConfigurationError(
            [f"{path}: there is no such file; `fairpool init {folder}` writes one to start from"]
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError([f"{path}: cannot be read ({error})"]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError([f"{path}: not valid TOML: {error}"]) from None
    try:
        return Configuration.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError([f"{path}: {_in_words(problem)}" for problem in error.errors()]) from None


def _in_words(problem: Any) -> str:
    location = [part for part in problem["loc"] if not _is_union_tag(part)]
    where = _where(location)
    match problem["type"]:
        case "extra_forbidden":
            known = _keys_at(location[:-1])
            near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else f"known keys are {', '.join(known)}"
            return f"{where}: unknown key; {hint}"
        case "missing":
            return f"{where}: missing; give it a value"
        case "value_error":
            return f"{where}: {problem['ctx']['error']}" if location else str(problem["ctx"]["error"])
        case _:
            value = repr(problem["input"])
            return (
                f"{where}: {value if len(value) < 60 else value[:57] + '...'} is not allowed; {problem['msg'].lower()}"
            )


def _is_union_tag(part: Any) -> bool:
    """Whether a part of pydantic's location names an alternative instead of a key."""
    return isinstance(part, str) and ("[" in part or part in ("float", "constrained-float", "literal"))


def _where(location: list[Any]) -> str:
    """["parties", 1, "data"] as `parties 2, data`."""
    words: list[str] = []
    for part in location:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return ", ".join(words) or "the file"


def _keys_at(location: list[Any]) -> list[str]:
    sections: dict[Any, type[BaseModel]] = {
        "model": ModelSection,
        "public": DataSection,
        "test": DataSection,
        "rewards": RewardsSection,
        "parties": PartySection,
    }
    return list(sections.get(location[0] if location else None, Configuration).model_fields)
