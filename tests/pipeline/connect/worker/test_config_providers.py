"""Variables in configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.worker.config_providers import ConfigVariables

PACKAGE = "org.apache.kafka.common.config.provider."


def variables(**more: str) -> ConfigVariables:
    return ConfigVariables(
        {
            "config.providers": "file, dir,env",
            "config.providers.file.class": f"{PACKAGE}FileConfigProvider",
            "config.providers.dir.class": f"{PACKAGE}DirectoryConfigProvider",
            "config.providers.env.class": f"{PACKAGE}EnvVarConfigProvider",
            **{f"config.providers.{name.replace('__', '.')}": value for name, value in more.items()},
        }
    )


def test_values_come_from_files_folders_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "db.properties").write_text("user=ann\npassword=swordfish\n")
    monkeypatch.setenv("SOME_HOST", "db.example.com")
    found = variables().resolve(
        {
            "url": f"jdbc:postgresql://${{env:SOME_HOST}}/${{file:{tmp_path}/db.properties:user}}",
            "password": f"${{file:{tmp_path}/db.properties:password}}",
            "whole": f"${{dir:{tmp_path}:db.properties}}",
            "unknown": "${vault:a:b} costs $5",
        }
    )
    assert found == {
        "url": "jdbc:postgresql://db.example.com/ann",
        "password": "swordfish",
        "whole": "user=ann\npassword=swordfish\n",
        "unknown": "${vault:a:b} costs $5",
    }


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="password: the config provider 'env' has nothing for"):
        variables().resolve({"password": "${env:NO_SUCH_VARIABLE}"})
    with pytest.raises(ConfigError, match="can't be read"):
        variables().resolve({"password": f"${{file:{tmp_path}/none.properties:password}}"})


def test_allowed_paths_and_names_are_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    monkeypatch.setenv("HIDDEN", "x")
    some = variables(dir__param__allowed__paths="", env__param__allowlist__pattern="")
    assert some.resolve({"a": f"${{dir:{tmp_path}/in:a}}"}) == {"a": "1"}
    strict = variables(
        **{"dir__param__allowed.paths": f"{tmp_path}/in", "env__param__allowlist.pattern": "SOME_.*"}
    )
    assert strict.resolve({"a": f"${{dir:{tmp_path}/in:a}}"}) == {"a": "1"}
    with pytest.raises(ConfigError, match=r"not within allowed\.paths"):
        strict.resolve({"a": f"${{dir:{tmp_path}/in/..:b}}"})
    with pytest.raises(ConfigError, match="has nothing"):
        strict.resolve({"a": "${env:HIDDEN}"})


def test_an_unknown_class_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match=r"config\.providers\.x\.class: got 'Vault'; takes one of"):
        ConfigVariables({"config.providers": "x", "config.providers.x.class": "Vault"})


def test_what_a_connector_passes_on_is_hidden_again() -> None:
    raw, resolved = {"password": "${env:A}", "user": "ann"}, {"password": "secret", "user": "ann"}
    tasks = [{"password": "secret", "user": "ann", "other": "secret"}]
    assert ConfigVariables.hide_all(tasks, raw, resolved) == [
        {"password": "${env:A}", "user": "ann", "other": "secret"}
    ]
