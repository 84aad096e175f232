import { didYouMean } from '../../../core/nearest.ts'
import type { HookComponent } from '../contract.ts'
import { isServerTool, knownTools } from '../known-tools.ts'
import { hookMatches, readMatcher } from '../matcher.ts'
import { about, type Notes } from '../notes.ts'
import type { HookEventFacts } from './hook-events.ts'

/** Reports a matcher that is ignored, invalid, or matches no known value. */
export function noteMatcher(component: HookComponent, facts: HookEventFacts, notes: Notes): void {
  const { matcher, event } = component
  const at = about('hook', component)
  const read = readMatcher(matcher)
  if (read.kind === 'all') return
  if (facts.matches === null) {
    notes.add('HOOK_MATCHER_IGNORED', {
      message: `${event} ignores matchers; the group fires every time, not only for '${matcher}'`,
      suggestion: 'Remove the matcher.',
      ...at,
    })
    return
  }
  if (read.kind === 'broken') {
    notes.add('HOOK_MATCHER_INVALID', {
      message: `the matcher '${matcher}' matches nothing: ${read.why}`,
      suggestion: 'Write the name of a tool, names joined by |, or a regular expression.',
      ...at,
    })
    return
  }
  const known = facts.values ?? (facts.matches === 'tool_name' ? knownTools : null)
  if (known === null) return
  if (read.kind === 'names') {
    for (const name of read.names.slice(0, mostNames)) noteName(name, known, facts, at, notes)
    return
  }
  const couldBeServer = facts.matches === 'tool_name' && /mcp/i.test(matcher ?? '')
  if (!couldBeServer && !known.some((value) => hookMatches(matcher, value)))
    notes.add('HOOK_MATCHER_UNKNOWN', {
      message: `the matcher '${matcher}' matches ${noneOf(facts, known)}`,
      suggestion: 'Check the spelling; matchers are case-sensitive.',
      ...at,
    })
}

/** More than there are tools. */
const mostNames = 200

function noteName(
  name: string,
  known: readonly string[],
  facts: HookEventFacts,
  at: ReturnType<typeof about>,
  notes: Notes,
): void {
  if (facts.matches === 'tool_name' && isServerTool(name)) {
    if (/^mcp__.+__./.test(name)) return
    notes.add('HOOK_MATCHER_UNKNOWN', {
      message: `'${name}' alone matches no tool: the name of a tool follows after two underscores`,
      suggestion: `Write '${name.replace(/_+$/, '')}__.*' for all tools of the server.`,
      ...at,
    })
    return
  }
  if (known.includes(name)) return
  notes.add('HOOK_MATCHER_UNKNOWN', {
    message: `'${name}' is ${noneOf(facts, known)}`,
    suggestion: didYouMean(name, known, 'Check the spelling; matchers are case-sensitive.'),
    ...at,
  })
}

function noneOf({ matches, values }: HookEventFacts, known: readonly string[]): string {
  return values === undefined
    ? 'no tool of Claude Code'
    : `not one of the values of ${matches}: ${known.join(', ')}`
}
