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
      "Answer one event of an agent's hooks: payload on standard input, answer as that agent wants it.",
    )
    .argument('[event]', 'the event as the agent calls it; needed where its payload does not say')
    .requiredOption('--agent <name>', 'whose hook: claude-code, codex, gemini, copilot, cursor, opencode')
    .option('--agent-version <version>', 'of the agent, when it is known')
    .action(async (event: string | undefined, flags: HookFlags) => {
      const { runHook } = await import('../../guard/hook/run-hook.ts')
      const { leaveNow, writeOut } = await import('../../io/exit-now.ts')
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
      // Not by the context: an agent reads one write, and takes the exit code at its word.
      if (reply.stdout !== '') writeOut(1, reply.stdout)
      if (reply.stderr !== '') writeOut(2, reply.stderr)
      if (isStuck) leaveNow(reply.exitCode)
      process.exit(reply.exitCode)
    })
}
