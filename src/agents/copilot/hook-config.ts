import { join } from 'node:path'
import { defined } from '../../core/json-fields.ts'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { settingsIn } from '../hook-config/read-hook-file.ts'
import { hookWords } from '../hook-config/shell-words.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const fileName = 'gantry.json'

/** A separate file: Copilot reads every `.json` file of the directory. */
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
      entryOf({ matcher, timeoutSeconds }, command) {
        const { program: exec, args } = hookWords(command)
        return defined({ type: 'command', matcher, exec, args, timeoutSec: timeoutSeconds })
      },
      disabledBy: ({ disableAllHooks }) =>
        disableAllHooks === true ? '`disableAllHooks` is true in this file' : null,
      switchedOff,
      afterwards: [
        'The file contains paths of this machine: keep .github/hooks/gantry.json out of version control, or install with --scope user.',
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

/** Settings files of a project, including those of Claude Code. */
function settingsOf(root: string): readonly string[] {
  return ['.github/copilot', '.claude'].flatMap((directory) =>
    ['settings.json', 'settings.local.json'].map((name) => join(root, directory, name)),
  )
}

/** `disableAllHooks` in any settings of the project applies to all hooks; in the user's settings it does not apply to ours. */
function switchedOff(given: readonly HookFileText[], { root }: HookPlace): string | null {
  const off = given.find(({ path, text }) => {
    const isOfProject = settingsOf(root).includes(path)
    return isOfProject && settingsIn(text, { comments: true })?.disableAllHooks === true
  })
  return off === undefined ? null : `\`disableAllHooks\` is true in ${off.path}`
}
