import { Command } from 'commander'
import type { CliContext } from '../context.ts'

interface FromSessionFlags {
  readonly name?: string
  readonly directory: string
  readonly repository?: string
  readonly json?: boolean
}

export function fromSessionCommand(context: CliContext): Command {
  return new Command('from-session')
    .description(
      'Make a scenario from a transcript of Claude Code, a rollout of Codex or a guarded session: prompts, tree and checks.',
    )
    .argument('<session>', 'a file of the agent, or the id of a session in the ledger of the guard')
    .option('--name <name>', 'name of the scenario (default: from the first prompt)')
    .option('--directory <dir>', 'where it is written', 'scenarios')
    .option('--repository <dir>', 'the repository, if it is not where the session ran any more')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (session: string, { json, ...flags }: FromSessionFlags) => {
      const { scenarioFromSession } = await import('../../scenario/from-session.ts')
      const { loadScenarios } = await import('../../scenario/load-case.ts')
      const { checkGraders } = await import('../../scenario/check.ts')
      const { plainLine } = await import('../../report/plain-text.ts')
      const { cwd, env, signal, stdout } = context
      const made = await scenarioFromSession(session, { ...flags, cwd, env, signal })
      const { cases, project } = await loadScenarios(made.files.slice(0, 1), {}, { cwd, env })
      const [entry] = cases
      const check =
        entry === undefined || made.checks.length === 0
          ? null
          : await checkGraders(entry, { env, signal, redact: project.config.redact })
      if (json === true) {
        stdout.write(`${JSON.stringify({ ...made, check }, null, 2)}\n`)
        return
      }
      stdout.write(`Wrote ${made.files.join(', ')}\n\n`)
      if (check !== null)
        stdout.write(
          `Ran in a copy of the template:\n${made.checks.map((line) => `- ${plainLine(line)}\n`).join('')}${
            check.sound
              ? 'The gates fail for an agent that does nothing, as they should.\n\n'
              : `The gates are not sound yet: ${check.problems.join('; ')}.\n\n`
          }`,
        )
      stdout.write(`To decide:\n${made.decide.map((line) => `- ${plainLine(line)}\n`).join('')}`)
    })
}
