import { join } from 'node:path'
import { asObject } from '../../core/json-fields.ts'
import { parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const fileName = 'gantry.json'

/** A file of our own beside those of others: Copilot reads every `.json` file of the directory. */
export function copilotHooks(events: readonly HookRegistration[]): HookInstaller {
  return jsonHookInstaller(
    {
      agent: 'copilot',
      executables: ['copilot'],
      projectMarks: ['.github/hooks', '.github/copilot-instructions.md'],
      proof: { config: {}, compaction: null },
      fileName,
      comments: false,
      skeleton: { version: 1 },
      scopes: ['project', 'user'],
      files,
      entryOf: ({ matcher, timeoutSeconds }, { program, args }) => ({
        type: 'command',
        ...(matcher !== undefined && { matcher }),
        exec: program,
        args,
        timeoutSec: timeoutSeconds,
      }),
      disabledBy: ({ disableAllHooks }) =>
        disableAllHooks === true ? '`disableAllHooks` is true in this file' : null,
      switchedOff,
      afterwards: [
        'The file has paths of this machine in it: keep .github/hooks/gantry.json out of version control, or install with --scope user.',
      ],
    },
    events,
  )
}

function files(scope: HookScope, { root, home, env }: HookPlace): readonly string[] {
  const copilotHome = env.COPILOT_HOME || join(home, '.copilot')
  const [project, user] = [join(root, '.github', 'hooks', fileName), join(copilotHome, 'hooks', fileName)]
  return [
    ...(scope === 'user' ? [user, project] : [project, user]),
    ...settingsOf(root),
    ...['settings.json', 'config.json'].map((name) => join(copilotHome, name)),
  ]
}

/** Of a project, those of Claude Code among them. */
function settingsOf(root: string): readonly string[] {
  return ['.github/copilot', '.claude'].flatMap((directory) =>
    ['settings.json', 'settings.local.json'].map((name) => join(root, directory, name)),
  )
}

/** `disableAllHooks` in any settings of the project applies to all hooks; in the user's settings it does not apply to ours. */
function switchedOff(given: readonly HookFileText[], { root }: HookPlace): string | null {
  const off = given.find(({ path, text }) => {
    const parsed =
      text !== null && settingsOf(root).includes(path) ? parseJsonc(text, { comments: true }) : null
    return parsed?.kind === 'parsed' && asObject(plainValue(parsed.node))?.disableAllHooks === true
  })
  return off === undefined ? null : `\`disableAllHooks\` is true in ${off.path}`
}
