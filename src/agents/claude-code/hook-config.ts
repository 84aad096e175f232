import { join } from 'node:path'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

/**
 * Of a project it is the local settings file, because the command has paths of this machine in it and the other one is committed.
 * A file with a comment in it is refused: Claude Code ignores such a file whole, 2.1.197 without a word.
 */
export function claudeCodeHooks(events: readonly HookRegistration[]): HookInstaller {
  return jsonHookInstaller(
    {
      agent: 'claude-code',
      executables: ['claude'],
      projectMarks: ['.claude', 'CLAUDE.md'],
      // Copilot runs these hooks too and drops their arguments: a bare `node` would fail, and a hook that fails denies every tool.
      needsLauncher: true,
      proof: {
        config: {},
        // A full context compacts too, but not in every version.
        compaction: { kind: 'command', prompt: '/compact', goOn: (session) => ({ resume: session }) },
      },
      fileName: 'settings.json',
      comments: false,
      skeleton: {},
      scopes: ['project', 'user', 'plugin'],
      files,
      entryOf: ({ matcher, timeoutSeconds, mustBlock }, { program, args }) => ({
        ...(matcher !== undefined && { matcher }),
        hooks: [
          {
            type: 'command',
            command: program,
            args,
            timeout: timeoutSeconds,
            // Known from 2.1.295 on; before that it is ignored without harm.
            ...(mustBlock && { onFailure: 'block' }),
          },
        ],
      }),
      disabledBy: ({ disableAllHooks }) =>
        disableAllHooks === true ? '`disableAllHooks` is true in this file' : null,
      switchedOff,
      afterwards: [
        'Start Claude Code anew: a session that is running keeps the hooks it began with.',
        'Older versions, such as 2.1.197, read the settings of a project only when they are started at its top; --scope user holds them everywhere.',
      ],
    },
    events,
  )
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

/** The strongest file that says anything about `disableAllHooks` is right: managed, local, shared, user. */
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
  const told = known.find(({ settings }) => settings.disableAllHooks !== undefined)
  return told?.settings.disableAllHooks === true ? `\`disableAllHooks\` is true in ${told.path}` : null
}

function rankOf(path: string, place: HookPlace): number {
  if (managed.includes(path)) return 0
  if (path === userFile(place)) return 3
  return path.endsWith('settings.local.json') ? 1 : 2
}

function userFile({ home, env }: Pick<HookPlace, 'home' | 'env'>): string {
  return join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json')
}

/** null for a file that Claude Code ignores. */
function settingsOf(text: string | null): JsonObject | null {
  const parsed = text === null ? null : parseJsonc(text, { comments: false })
  return parsed?.kind === 'parsed' ? asObject(plainValue(parsed.node)) : null
}
