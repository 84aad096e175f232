import { basename } from 'node:path'
import { isObject } from '../../core/json-fields.ts'
import { parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'

/**
 * The part of a settings file that decides which hooks run, as text to be hashed. Agents write their settings themselves, such as a theme
 * or a granted permission, so a seal over the whole file would raise false alarms. A file that cannot be parsed counts as a whole. null is
 * equivalent to no file.
 */
export function steeringContent(path: string, text: string): string | null {
  const name = basename(path)
  if (/^(managed-)?settings(\.local)?\.json$/.test(name)) return steeringJson(text, agentKeys)
  if (/^opencode\.jsonc?$/.test(name)) return steeringJson(text, ['plugin', 'plugins'])
  // Copilot writes it itself, with comments.
  if (name === 'config.json') return steeringJson(text, agentKeys, { comments: true })
  if (name === 'config.toml') return steeringToml(text) || null
  return /^gantry\.ya?ml$/.test(name) ? guardSection(text) : text
}

const agentKeys = [
  'hooks',
  'disableAllHooks',
  'allowManagedHooksOnly',
  'enabledPlugins',
  'env',
  'hooksConfig',
  'enableHooks',
  'tools.enableHooks',
]

/** Whether a gantry.yaml configures the guard. */
export function configuresGuard(text: string): boolean {
  return /(?:^|[\s{,])["']?guard["']?\s*:/.test(text)
}

/** From the key to the next one at the same level; null when the file does not configure the guard. */
function guardSection(text: string): string | null {
  if (!configuresGuard(text)) return null
  const section = /^["']?guard["']?[ \t]*:[^\n]*(\n([ \t#].*)?)*/m.exec(text)?.[0]
  return section?.trimEnd() ?? text
}

/**
 * A file that does not mention hooks is equivalent to no file. A file that does not parse counts as a whole: Claude Code, for example, runs
 * none of its hooks if it contains a comment.
 */
function steeringJson(
  text: string,
  keys: readonly string[],
  { comments } = { comments: false },
): string | null {
  const parsed = parseJsonc(text, { comments })
  const value = parsed.kind === 'parsed' ? plainValue(parsed.node) : null
  if (!isObject(value)) return text
  const values = keys.map((key) => sorted(at(value, key.split('.'))))
  return values.every((each) => each === null) ? null : JSON.stringify(values)
}

function at(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? at((value as Readonly<Record<string, unknown>>)[key], rest)
    : null
}

/** The order of keys in an object does not matter. The order of hooks in a list does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}

/**
 * The tables and keys that name hooks or switch features. Not `hooks.state`, where the agent records what a person trusts. Read line by
 * line: an extra line only makes the seal stricter.
 */
function steeringToml(text: string): string {
  let steers = false
  let inState = false
  return text
    .split(/\r?\n/)
    .filter((line) => {
      const table = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1]?.replaceAll(/["'\s]/g, '')
      if (table !== undefined) {
        inState = /^hooks\.state(\.|$)/.test(table)
        steers = !inState && /(^|\.)(hooks|features)(\.|$)/.test(table)
        return steers
      }
      return steers || (!inState && /^\s*["']?[\w.\s"'-]*(hooks|features|notify)/.test(line))
    })
    .join('\n')
}
