import { Command } from 'commander'
import { version } from '../../core/version.ts'
import type { CliContext } from '../context.ts'

interface HookFlags {
  readonly agent: string
  readonly agentVersion?: string
}

export function hookCommand(context: CliContext): Command {
  return new Command('hook')
    .description(
      "Answer one event of an agent's hooks: payload on standard input, answer in the format of that agent.",
    )
    .argument('[event]', 'name of the event; needed when the payload does not contain it')
    .requiredOption('--agent <name>', 'whose hook: claude-code, codex, gemini, copilot, cursor, opencode')
    .option('--agent-version <version>', 'version of the agent, if known')
    .action(async (event: string | undefined, flags: HookFlags) => {
      const { runHook } = await import('../../guard/hook/run-hook.ts')
      const { exitNow, writeOut } = await import('../../io/exit-now.ts')
      const { reply, isStuck } = await runHook({
        argv: [
          ...(event === undefined ? [] : [event]),
          ...['--agent', flags.agent],
          ...(flags.agentVersion === undefined ? [] : ['--agent-version', flags.agentVersion]),
        ],
        env: context.env,
        input: 0,
        program: { node: process.execPath, hookBin: null, edition: version },
        uid: null,
      })
      // Not through the context: an agent reads a single write and relies on the exit code.
      if (reply.stdout !== '') writeOut(1, reply.stdout)
      if (reply.stderr !== '') writeOut(2, reply.stderr)
      if (isStuck) exitNow(reply.exitCode)
      process.exit(reply.exitCode)
    })
}
