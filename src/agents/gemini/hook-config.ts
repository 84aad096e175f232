import { join } from 'node:path'
import { asObject, asStrings, type JsonObject } from '../../core/json-fields.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { settingsIn } from '../hook-config/read-hook-file.ts'
import { hookLine } from '../hook-config/shell-words.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const hookName = 'gantry-guard'

/** Hooks are on unless a file disables them; nothing here overrides that. */
export function geminiHooks(events: readonly HookRegistration[]): HookInstaller {
  return jsonHookInstaller(
    {
      agent: 'gemini',
      executables: ['gemini'],
      projectMarks: ['.gemini', 'GEMINI.md'],
      proof: { config: {}, compaction: null },
      fileName: 'settings.json',
      comments: true,
      skeleton: {},
      scopes: ['project', 'user'],
      files,
      entryOf: ({ matcher, timeoutSeconds }, command) => ({
        ...(matcher !== undefined && { matcher }),
        // The timeout is in milliseconds, unlike everywhere else.
        hooks: [
          { type: 'command', name: hookName, command: hookLine(command), timeout: timeoutSeconds * 1000 },
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
    const why = disabledBy(settingsIn(text, { comments: true }) ?? {})
    if (why !== null) return why.replace('this file', path)
  }
  return null
}
