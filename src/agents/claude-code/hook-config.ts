import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { appendJson, removeJson } from '../../core/jsonc/edit-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { settingsIn } from '../hook-config/read-hook-file.ts'
import { hookLine } from '../hook-config/shell-words.ts'
import type { HookCommand, HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

/**
 * In a project this is the local settings file, because the command contains paths of this machine and the other file
 * is committed. A file with a comment is refused: Claude Code ignores the whole file, and 2.1.197 does so silently.
 */
export function claudeCodeHooks(events: readonly HookRegistration[]): HookInstaller {
  const hooks = jsonHookInstaller(
    {
      agent: 'claude-code',
      executables: ['claude'],
      projectMarks: ['.claude', 'CLAUDE.md'],
      proof: {
        config: {},
        // A full context is compacted too, but not in every version.
        compaction: { kind: 'command', prompt: '/compact', goOn: (session) => ({ resume: session }) },
      },
      fileName: 'settings.json',
      comments: false,
      skeleton: {},
      scopes: ['project', 'user', 'plugin'],
      files,
      entryOf({ matcher, timeoutSeconds, mustBlock }, wanted) {
        // Copilot runs these hooks too and drops `args`: what is left must still be the guard.
        const { program, args, onlyIf } = wanted
        const start = onlyIf === undefined ? { command: program, args } : { command: hookLine(wanted) }
        // Known from 2.1.295 on; earlier versions ignore it.
        const failing = mustBlock && { onFailure: 'block' }
        return {
          ...(matcher !== undefined && { matcher }),
          hooks: [{ type: 'command', ...start, timeout: timeoutSeconds, ...failing }],
        }
      },
      disabledBy: ({ disableAllHooks }) =>
        disableAllHooks === true ? '`disableAllHooks` is true in this file' : null,
      switchedOff,
      afterwards: [
        'Restart Claude Code: a running session keeps the hooks it started with.',
        'Older versions, such as 2.1.197, read the settings of a project only when they are started in its root; --scope user applies everywhere.',
      ],
    },
    events,
  )
  return {
    ...hooks,
    shellPrefix,
    install(text, command) {
      const before = command.shellPrefix === undefined ? shellPrefix(text) : command.shellPrefix
      const start = text === null || text.trim() === '' ? text : withoutPrefix(text)
      const wanted = before !== null && isOurPrefix(before) ? before : null
      const done = hooks.install(start, wanted === null ? command : unconditional(command))
      const after = wanted === null ? done : withPrefix(done, wanted)
      return text !== null && sameJson(text, after) ? text : after
    },
    uninstall: (text) => hooks.uninstall(withoutPrefix(text)),
    inspect(text, command) {
      const prefix = shellPrefix(text)
      const found = hooks.inspect(
        text,
        prefix !== null && isOurPrefix(prefix) ? unconditional(command) : command,
      )
      if (found.kind !== 'installed' || command.shellPrefix === undefined) return found
      return prefix === command.shellPrefix
        ? found
        : { kind: 'outdated', differences: ['commands do not run with protected files read-only'] }
    },
  }
}

/**
 * A command without `args` would run through the prefix, where the ledger is read-only. Such settings cannot work on another machine
 * anyway, because they name a program of this one for every command.
 */
function unconditional({ onlyIf: _, ...command }: HookCommand): HookCommand {
  return command
}

/** The hook program gets these variables too, and reads the layer from them. */
const prefixKey = 'CLAUDE_CODE_SHELL_PREFIX'
const layerKey = 'HARNESS_ENFORCEMENT'

function shellPrefix(text: string | null): string | null {
  return asString(asObject(settingsOf(text)?.env)?.[prefixKey]) ?? null
}

function isOurPrefix(program: string): boolean {
  return program.endsWith('/gantry-shell')
}

/** Throws when another program is named: commands of the agent can go through one only. */
function withPrefix(text: string, program: string): string {
  const other = shellPrefix(text)
  if (other !== null)
    throw new GantryError('USAGE', `${prefixKey} is set to ${other} already`, {
      hint: 'Remove it from the settings of Claude Code, or install without --enforce kernel.',
    })
  const variables = { [prefixKey]: program, [layerKey]: 'kernel' }
  if (asObject(settingsOf(text)?.env) === null) return appendJson(text, [], { key: 'env', value: variables })
  return Object.entries(variables).reduce(
    (before, [key, value]) => appendJson(before, ['env'], { key, value }),
    text,
  )
}

function withoutPrefix(text: string): string {
  const prefix = shellPrefix(text)
  if (prefix === null || !isOurPrefix(prefix)) return text
  const rest = [prefixKey, layerKey].reduce(
    (before, key) =>
      Object.hasOwn(asObject(settingsOf(before)?.env) ?? {}, key) ? removeJson(before, ['env', key]) : before,
    text,
  )
  const env = asObject(settingsOf(rest)?.env)
  return env !== null && Object.keys(env).length === 0 ? removeJson(rest, ['env']) : rest
}

function sameJson(one: string, other: string): boolean {
  return JSON.stringify(sorted(settingsOf(one))) === JSON.stringify(sorted(settingsOf(other)))
}

function sorted(settings: JsonObject | null): unknown {
  return settings === null ? null : Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function files(scope: HookScope, { root, home, env }: HookPlace): readonly string[] {
  if (scope === 'plugin') return [join(root, 'hooks', 'hooks.json')]
  const user = userFile({ home, env })
  const [shared, local] = [
    join(root, '.claude', 'settings.json'),
    join(root, '.claude', 'settings.local.json'),
  ]
  return [...(scope === 'user' ? [user, local, shared] : [local, shared, user]), ...managed]
}

const managed = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
]

/** The file with the highest precedence that sets `disableAllHooks` decides: managed, local, shared, user. */
function switchedOff(given: readonly HookFileText[], place: HookPlace): string | null {
  const known = given
    .flatMap(({ path, text }) => {
      const settings = settingsOf(text)
      return settings === null ? [] : [{ path, settings }]
    })
    .sort((one, other) => rankOf(one.path, place) - rankOf(other.path, place))
  const locked = known.find(
    ({ path, settings }) => managed.includes(path) && settings.allowManagedHooksOnly === true,
  )
  if (locked !== undefined) return `\`allowManagedHooksOnly\` is true in ${locked.path}`
  const deciding = known.find(({ settings }) => settings.disableAllHooks !== undefined)
  return deciding?.settings.disableAllHooks === true
    ? `\`disableAllHooks\` is true in ${deciding.path}`
    : null
}

function rankOf(path: string, place: HookPlace): number {
  if (managed.includes(path)) return 0
  if (path === userFile(place)) return 3
  return path.endsWith('settings.local.json') ? 1 : 2
}

function userFile({ home, env }: Pick<HookPlace, 'home' | 'env'>): string {
  return join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json')
}

function settingsOf(text: string | null): JsonObject | null {
  return settingsIn(text, { comments: false })
}
