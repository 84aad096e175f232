import { join } from 'node:path'
import { asObject, asStrings, type JsonObject } from '../../core/json-fields.ts'
import { parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { shellWords } from '../hook-config/shell-words.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const hookName = 'gantry-guard'

/** Hooks are on unless a file says no; none is switched on here against what a person wrote. */
export function geminiHooks(events: readonly HookRegistration[]): HookInstaller {
  return jsonHookInstaller(
    {
      agent: 'gemini',
      executables: ['gemini'],
      projectMarks: ['.gemini', 'GEMINI.md'],
      // A tool call passes when its hook ends with code 1, as Node does when it does not find its program. A shell that handled this
      // would be killed in place of the hook when that hangs.
      needsLauncher: true,
      proof: { config: {}, compaction: null },
      fileName: 'settings.json',
      comments: true,
      skeleton: {},
      scopes: ['project', 'user'],
      files,
      entryOf: ({ matcher, timeoutSeconds }, { program, args }) => ({
        ...(matcher !== undefined && { matcher }),
        hooks: [
          {
            type: 'command',
            name: hookName,
            command: shellWords([program, ...args]),
            // Milliseconds, unlike everywhere else.
            timeout: timeoutSeconds * 1000,
          },
        ],
      }),
      disabledBy,
      switchedOff,
      afterwards: [
        'Hooks of a project run only in a folder that Gemini CLI trusts; it asks when you start it there, and `gemini --skip-trust` or /permissions changes it.',
      ],
    },
    events,
  )
}

function files(scope: HookScope, { root, home, env }: HookPlace): readonly string[] {
  const user = join(env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json')
  const project = join(root, '.gemini', 'settings.json')
  const system = env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || '/etc/gemini-cli/settings.json'
  return scope === 'user' ? [user, project, system] : [project, user, system]
}

function disabledBy(settings: JsonObject): string | null {
  const hooksConfig = asObject(settings.hooksConfig) ?? {}
  if (hooksConfig.enabled === false) return '`hooksConfig.enabled` is false in this file'
  if (asObject(settings.tools)?.enableHooks === false) return '`tools.enableHooks` is false in this file'
  return (asStrings(hooksConfig.disabled) ?? []).includes(hookName)
    ? `\`hooksConfig.disabled\` names ${hookName} in this file`
    : null
}

/** Lists of disabled hooks are united over all files, and any file may switch the whole off. */
function switchedOff(given: readonly HookFileText[]): string | null {
  for (const { path, text } of given) {
    const parsed = text === null ? null : parseJsonc(text, { comments: true })
    const why = parsed?.kind === 'parsed' ? disabledBy(asObject(plainValue(parsed.node)) ?? {}) : null
    if (why !== null) return why.replace('this file', path)
  }
  return null
}
