import { basename } from 'node:path'
import { isObject } from '../../core/json-fields.ts'
import { parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'

/**
 * What of a settings file decides which hooks run, as text to be hashed. Agents write their settings themselves, for a theme or a
 * permission a person granted: a seal over the whole file would cry for nothing. What cannot be read counts whole; null is as
 * good as no file.
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

/** Whether a gantry.yaml has anything to say to the guard. */
export function speaksOfGuard(text: string): boolean {
  return /(?:^|[\s{,])["']?guard["']?\s*:/.test(text)
}

/** From the key to the next one beside it; null when the file has nothing to say to the guard. */
function guardSection(text: string): string | null {
  if (!speaksOfGuard(text)) return null
  const section = /^["']?guard["']?[ \t]*:[^\n]*(\n([ \t#].*)?)*/m.exec(text)?.[0]
  return section?.trimEnd() ?? text
}

/**
 * A file that says nothing about hooks steers as little as none. One that does not parse is taken whole: with a comment in it,
 * for one, Claude Code runs none of its hooks.
 */
function steeringJson(
  text: string,
  keys: readonly string[],
  { comments } = { comments: false },
): string | null {
  const parsed = parseJsonc(text, { comments })
  const value = parsed.kind === 'parsed' ? plainValue(parsed.node) : null
  if (!isObject(value)) return text
  const said = keys.map((key) => sorted(at(value, key.split('.'))))
  return said.every((each) => each === null) ? null : JSON.stringify(said)
}

function at(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? at((value as Readonly<Record<string, unknown>>)[key], rest)
    : null
}

/** The order of keys in an object means nothing; that of hooks in a list does. */
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
 * The tables and keys that name hooks or switch features. Not `hooks.state`: there the agent notes what a person trusts.
 * Read by lines, which is enough: a line too many only makes the seal stricter.
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
