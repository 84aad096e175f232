import { compilePattern } from '../core/pattern.ts'
import { excerpt } from './excerpt.ts'

/** What a gate searches for. `said`: how its message goes on, depending on what was found. */
export function searchFor(wanted: { readonly substring: string } | { readonly pattern: string }) {
  if ('substring' in wanted) {
    const { substring } = wanted
    return {
      kind: 'ok',
      find: (text: string) => (text.includes(substring) ? substring : null),
      said: (found: string | null) =>
        `${found === null ? 'does not contain' : 'contains'} "${excerpt(substring, 200)}"`,
      detail: (_: string | null) => ({ substring: excerpt(substring) }),
    } as const
  }
  const { pattern } = wanted
  const compiled = compilePattern(pattern)
  if (compiled.kind === 'bad')
    return {
      kind: 'bad',
      message: `the pattern is invalid: ${compiled.message}`,
      detail: { pattern },
    } as const
  return {
    kind: 'ok',
    find: (text: string) => compiled.pattern.exec(text)?.text ?? null,
    said: (found: string | null) =>
      `${found === null ? 'does not match' : 'matches'} /${excerpt(pattern, 200)}/`,
    detail: (found: string | null) => ({ pattern, ...(found !== null && { matched: excerpt(found) }) }),
  } as const
}
