import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookCommand } from '../agents/hook-installer.ts'
import { hookLauncher } from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'

/** What a hook of this agent starts; the installer adds the event. */
export function hookCommand(
  agent: HookedAgent,
  program: HookProgram,
  env: Readonly<Record<string, string | undefined>>,
): HookCommand {
  const launcher = hookLauncher(agent, program, env)
  const { node, hookBin } = program
  return launcher === null
    ? { program: node, args: [hookBin, '--agent', agent], agentVersion: null }
    : { program: launcher.path, args: [], agentVersion: null }
}
