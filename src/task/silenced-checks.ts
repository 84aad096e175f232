import { shorten } from '../core/shorten.ts'
import type { Weakening } from './contract.ts'
import type { DiffFile } from './diff-files.ts'
import { isSource } from './editor/sample-conventions.ts'

/** Comments that keep a whole file from being checked. */
const silencesFile =
  /@ts-nocheck|eslint-disable(?=\s*(?:\*\/|$))|biome-ignore-all|mypy: ?ignore-errors|(?:ruff|flake8): ?noqa|pylint: ?(?:skip-file|disable=all)|#!\[allow\((?:warnings|clippy::all|unused)/
/** Comments and attributes that keep a line from being checked. */
const silencesLine =
  /@ts-(?:ignore|expect-error)|(?:eslint|oxlint|stylelint|rubocop|pylint|shellcheck|phpcs)[-:]? ?(?:disable|ignore)|biome-ignore|# ?(?:type|pyright|ty): ?ignore|# ?noqa|\/\/ ?nolint|#\[allow\(|@SuppressWarnings|NOLINT/

/**
 * New lines that silence a lint, a type check or a compiler: for a whole file, or, when such a check failed before (`isRed`), for the line
 * that may be why.
 */
export function silencedChecks(files: readonly DiffFile[], isRed: boolean): readonly Weakening[] {
  const before = new Set(files.flatMap(({ removed }) => removed.map((line) => line.trim())))
  return files.flatMap(({ path, added }) => {
    const line = added.find(
      (each) => (silencesFile.test(each) || (isRed && silencesLine.test(each))) && !before.has(each.trim()),
    )
    return line === undefined || !isSource(path)
      ? []
      : [{ what: `"${path}" silences a check: ${shorten(line.trim(), 100)}`, where: path }]
  })
}
