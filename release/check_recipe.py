"""Render the conda recipe for every platform, as rattler-build does before it solves: ``make recipe``.

The parser of rattler-build refuses unknown keys and templates that cannot be rendered. Nothing is solved, built or
downloaded, so this works without a channel; it does not show that the packages of a channel can be installed together.
"""

from __future__ import annotations

from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig, rattler_build_version

ROOT = Path(__file__).parents[1]
PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64")
# What conda-forge sets for all recipes, as far as this one asks for it.
PYTHONS = ("3.11.*", "3.12.*", "3.13.*")
VARIANTS = """
python: {pythons}
c_stdlib: ["{stdlib}"]
"""
STDLIBS = {"linux": "sysroot", "osx": "macosx_deployment_target", "win": "vs"}


def main() -> None:
    """Render all variants and print what each platform needs to build the package."""
    recipe = Stage0Recipe.from_yaml((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    print(f"rattler-build {rattler_build_version()}")
    for platform in PLATFORMS:
        variants = VariantConfig.from_yaml(
            VARIANTS.format(pythons=list(PYTHONS), stdlib=STDLIBS[platform.split("-")[0]])
        )
        config = RenderConfig(PlatformConfig(target_platform=platform, build_platform=platform, host_platform=platform))
        rendered = [variant.recipe.to_dict() for variant in recipe.render(variants, config)]
        if len(rendered) != len(PYTHONS):
            raise SystemExit(f"{platform}: {len(rendered)} variants, but there are {len(PYTHONS)} versions of Python.")
        needed = rendered[0]["requirements"]["build"]
        print(f"{platform}: {len(rendered)} variants; to build: {', '.join(needed)}")
        for path in rendered[0]["about"]["license_file"]:
            if not (ROOT / path).is_file():
                raise SystemExit(f"The licence {path} is not there.")


if __name__ == "__main__":
    main()
