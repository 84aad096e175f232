import { knownTools } from '../known-tools.ts'
import { hookMatches, readMatcher } from '../matcher.ts'

/** Tools a matcher of a tool event fits: `*` alone for all of them, a name or a glob for those of servers. */
export function matchingTools(matcher: string | null): readonly string[] {
  const read = readMatcher(matcher)
  switch (read.kind) {
    case 'all':
      return ['*']
    case 'names':
      return [...new Set(read.names)]
    case 'broken':
      return []
    case 'pattern': {
      const fitting = knownTools.filter((tool) => hookMatches(matcher, tool))
      if (fitting.length === knownTools.length) return ['*']
      return fitting.length > 0 ? fitting : globOf(matcher ?? '')
    }
  }
}

/** `^mcp__memory__.*$` is `mcp__memory__*`; nothing when it cannot be said so simply. */
function globOf(pattern: string): readonly string[] {
  const simple = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replaceAll(/\.[*+]/g, '*')
  return /^[\w*:-]+$/.test(simple) ? [simple] : []
}
