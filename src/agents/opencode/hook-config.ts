import { isAbsolute, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { HookRegistration } from '../hook-codec.ts'
import type { HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'
import { guardPlugin, guardPluginMark } from './guard-plugin.ts'

const fileName = 'gantry-guard.js'

/** opencode has no hooks in its settings: a plugin of ours, one file, starts the guard. */
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
        : { kind: 'outdated', differences: ['the plugin is another than this version of Gantry writes'] }
    },
    programs(text) {
      if (!isOurs(text)) return []
      const quoted = text
        .match(/^const (?:program|args) = .*$/gm)
        ?.flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"/g) ?? [])
      return (quoted ?? []).map((word): string => JSON.parse(word)).filter((word) => isAbsolute(word))
    },
    afterwards: [
      'Start opencode anew: plugins are loaded at its start. `opencode --pure` loads none.',
      'The file has paths of this machine in it: keep .opencode/plugins/gantry-guard.js out of version control, or install with --scope user.',
    ],
  }
}

/** Both `plugin` and `plugins` are read, and every file in them; so are the plugins that the configuration names. */
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
