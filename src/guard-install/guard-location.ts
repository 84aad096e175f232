import { hookInstallerOf, installableAgents } from '../agents/hook-installers.ts'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import type { GuardLocation } from '../guard-engine/seal/guarded-paths.ts'
import { homeDirectory } from '../io/host.ts'
import { isFile } from '../io/path-kind.ts'
import { writtenLaunchers } from './hook-launcher.ts'
import { hookBinPath } from './hook-program.ts'

/** All locations of the guard's own files and of hook configuration for one project, including the files of every installer. */
export function guardLocation(root: string, env: Variables, stateDir?: string): GuardLocation {
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
        // A plugin has its own directory, so files with the same names in a project belong to the project.
        scopes.filter((scope) => scope !== 'plugin').flatMap((scope) => files(scope, { root, home, env })),
      ),
      ...writtenLaunchers(env),
    ],
    ...(stateDir === undefined ? {} : { stateDir }),
  }
}
