import { compilePattern, escapePattern, type Pattern } from '../../../core/pattern.ts'

const wild: Readonly<Record<string, string>> = {
  '**/': '(?:(?s:.*)/)?',
  '**': '(?s:.*)',
  '*': '[^/]*',
  '?': '[^/]',
}

/**
 * A glob of a grader, with the meaning it has for `claude plugin eval`: `*` and `?` within a name, `**` over directories, all else
 * letter by letter, brackets and braces too. Names that begin with a dot are names like others.
 */
export function graderGlob(glob: string): Pattern {
  const source = glob
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => wild[part] ?? (part === '' ? '' : escapePattern(part)))
    .join('')
  const compiled = compilePattern(`\\A${source}\\z`)
  if (compiled.kind === 'bad') throw new Error(`the glob ${glob} became ${source}: ${compiled.message}`)
  return compiled.pattern
}
