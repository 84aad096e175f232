import { join, normalize } from 'node:path'
import { isFile } from '../io/path-kind.ts'

/**
 * The template files that commands run: for each command its first word that names a file of the template, so that
 * `./check.sh notes.md` and `python3 scripts/check.py notes.md` give the script and not what it looks at.
 */
export function filesNamedFirst(commands: readonly string[], templateDir: string): string[] {
  const named = commands.flatMap((command) => {
    const words = command.split(/[\s;&|<>()]+/).map((word) => normalize(word.replaceAll(/["']/g, '')))
    const file = words.find(
      (word) => word !== '.' && !word.startsWith('..') && isFile(join(templateDir, word)),
    )
    return file === undefined ? [] : [file]
  })
  return [...new Set(named)]
}
