import { isAbsolute, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { textBeside } from '../../io/text-beside.ts'
import type { HookRegistration } from '../hook-codec.ts'
import type { HookCommand, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const fileName = 'gantry-guard.js'

/** opencode has no hooks in its settings: our plugin, one file, starts the guard. */
export function opencodeHooks(events: readonly HookRegistration[]): HookInstaller {
  return {
    agent: 'opencode',
    executables: ['opencode'],
    projectMarks: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    proof: { config: {}, compaction: null },
    scopes: ['project', 'user'],
    files,
    install(text, command) {
      if (text !== null && text.trim() !== '' && !isOurs(text)) throw foreign()
      return guardPlugin(command, events)
    },
    uninstall: (text) => (isOurs(text) ? null : text),
    inspect(text, command) {
      if (text === null || !isOurs(text)) return { kind: 'absent' }
      return text === guardPlugin(command, events)
        ? { kind: 'installed' }
        : { kind: 'outdated', differences: ['the plugin differs from the one of this Gantry version'] }
    },
    programs(text) {
      if (!isOurs(text)) return []
      const quoted = text
        .match(/^const (?:program|args) = .*$/gm)
        ?.flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"/g) ?? [])
      return (quoted ?? []).map((word): string => JSON.parse(word)).filter((word) => isAbsolute(word))
    },
    afterwards: [
      'Restart opencode: plugins are loaded at its start. `opencode --pure` loads none.',
      'The file contains paths of this machine: keep .opencode/plugins/gantry-guard.js out of version control, or install with --scope user.',
    ],
  }
}

/** opencode reads all files in `plugin` and `plugins`, and the plugins named in the configuration. */
function files(scope: HookScope, { root, home, env }: HookPlace): readonly string[] {
  const config = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')
  const project = join(root, '.opencode')
  const [own, other] = scope === 'user' ? [config, project] : [project, config]
  return [
    join(own, 'plugins', fileName),
    join(other, 'plugins', fileName),
    ...[root, project, config].flatMap((directory) =>
      ['opencode.json', 'opencode.jsonc'].map((name) => join(directory, name)),
    ),
  ]
}

function isOurs(text: string): boolean {
  return text.startsWith(guardPluginMark)
}

function foreign(): GantryError {
  return new GantryError('INVALID_FILE', `${fileName} already exists and was not written by Gantry`, {
    at: { file: fileName, line: 1, column: 1 },
    hint: 'Move it away and try again; nothing was changed.',
  })
}

const guardPluginMark = '// Written by `gantry guard install`; it is replaced whole by the next one.\n'

/**
 * The plugin's text. It starts the hook program once per event, with one JSON object on stdin: `{hook, session,
 * directory, worktree, tool?, callID?, args?, output?, metadata?}`; the answer is `{deny?, context?, system?}` or exit
 * code 2. A tool that was not judged, for any reason, is not run.
 */
export function guardPlugin(command: HookCommand, events: readonly HookRegistration[]): string {
  const timeouts = Object.fromEntries(
    events.map(({ event, timeoutSeconds }) => [event, timeoutSeconds * 1000]),
  )
  return `${guardPluginMark}import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from ${JSON.stringify('node:fs')}

const program = ${JSON.stringify(command.program)}
const args = ${JSON.stringify(command.args)}
/** On another machine, where none of these exists, the plugin does nothing. */
const onlyIf = ${JSON.stringify(command.onlyIf ?? null)}
const timeoutsMs = ${JSON.stringify(timeouts)}
${body}`
}

/** Nothing in it depends on the machine. Errors of the guard are shown to the model where that is possible, never on the screen of the TUI. */
const body = textBeside(import.meta.url, './guard-plugin.js')
