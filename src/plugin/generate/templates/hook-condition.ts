import type { HookComponent } from '../../analyze/contract.ts'
import { requestFor, type ToolRequest } from './tool-requests.ts'

/** On any other event a handler with a condition never runs. */
export const eventsWithConditions: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
])

/** The permission rule under which the group acts, such as `Bash(git *)`; null when one of its handlers always does. */
export function conditionOf({ handlers }: Pick<HookComponent, 'handlers'>): string | null {
  const rules = handlers.map(({ raw }) => (typeof raw.if === 'string' ? raw.if.trim() : ''))
  return rules.length === 0 || rules.includes('') ? null : (rules[0] ?? null)
}

/** The request for a tool, such that the rule fits; null when the rule is about another tool, or we cannot tell. */
export function requestUnder(rule: string, tool: string): ToolRequest | null {
  const [, ruled = '', detail] = /^([\w*]+)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (ruled !== tool) return null
  if (detail === undefined || detail === '' || detail === '*') return requestFor(tool)
  switch (tool) {
    case 'Bash':
      return { prompt: `Run the command ${commandFor(detail)} in the shell and show me what it prints.` }
    case 'Read': {
      const path = pathFor(detail)
      return path === null
        ? null
        : { prompt: `Read ${path} and tell me in one sentence what it says.`, files: { [path]: text } }
    }
    case 'Write': {
      const path = pathFor(detail)
      return path === null
        ? null
        : { prompt: `Create a new file ${path} with the text: Hello from the workshop.` }
    }
    case 'Edit': {
      const path = pathFor(detail)
      return path === null
        ? null
        : { prompt: `In ${path}, change the word example to the word sample.`, files: { [path]: text } }
    }
    default:
      return null
  }
}

const text = 'an example in one line\n'

/** `git *` and `git:*` are any command that begins so. */
function commandFor(pattern: string): string {
  const [before = ''] = pattern.split('*')
  const fixed = before.replace(/:$/, '').trim()
  return pattern.includes('*') ? `${fixed} --version`.trim() : fixed
}

/** A path in the workspace that the pattern fits; null for one outside. */
function pathFor(pattern: string): string | null {
  const relative = pattern.replace(/^\.?\//, '')
  if (
    relative === '' ||
    /^[/~]/.test(relative) ||
    relative.split('/').includes('..') ||
    /[[\]{}!?]/.test(relative)
  )
    return null
  const path = relative.replaceAll('**/', '').replaceAll('**', 'sample.txt').replaceAll('*', 'sample')
  return path.endsWith('/') ? `${path}sample.txt` : path
}
