import { hookInstallerOf, installableAgents } from '../agents/hook-installers.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import type { OwnPlace } from '../guard-engine/seal/own-paths.ts'
import { homeDirectory } from '../io/host.ts'
import { isFile } from '../io/path-kind.ts'
import { writtenLaunchers } from './hook-launcher.ts'
import { hookBinPath } from './hook-program.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Everything that is the guard's own or steers hooks around one project, with the files every installer names. */
export function ownPlace(root: string, env: Env, stateDir?: string): OwnPlace {
  const home = homeDirectory(env)
  const installers = installableAgents.map((agent) => hookInstallerOf(agent, { events: [] }))
  const plugin = env.CLAUDE_PLUGIN_ROOT
  return {
    root,
    home,
    env,
    guardHome: guardHome(env),
    hookBin: hookBinPath(),
    pluginDir: plugin !== undefined && isFile(`${plugin}/.claude-plugin/plugin.json`) ? plugin : null,
    agentFiles: [
      ...installers.flatMap(({ scopes, files }) =>
        // A plugin has a directory of its own: what is called like its files in a project is the project's.
        scopes.filter((scope) => scope !== 'plugin').flatMap((scope) => files(scope, { root, home, env })),
      ),
      ...writtenLaunchers(env),
    ],
    ...(stateDir === undefined ? {} : { stateDir }),
  }
}
