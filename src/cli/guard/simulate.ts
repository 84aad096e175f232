import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { GantryError } from '../../core/error.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import type { Simulation } from '../../guard/simulate.ts'
import { errnoOf, translateFsError } from '../../io/fs-error.ts'
import type { CliContext } from '../context.ts'
import { paintVerdict, printSections } from './print-sections.ts'

interface SimulateFlags {
  readonly agent: HookedAgent
  readonly event?: string
  readonly agentVersion?: string
  readonly json?: boolean
}

export function simulateCommand(context: CliContext): Command {
  return new Command('simulate')
    .description("Show what the guard would answer to an agent's hook payload now. Nothing is written.")
    .argument('<payload>', "file with the payload as the agent sends it; '-' for standard input")
    .addOption(
      new Option('--agent <name>', 'whose payload it is').choices(installableAgents).default('claude-code'),
    )
    .option('--event <name>', 'name of the event, if the payload does not contain it')
    .option('--agent-version <version>', 'the version of the agent the answer is for')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (file: string, flags: SimulateFlags) => {
      const { simulateHook } = await import('../../library/open-guard.ts')
      const { env, cwd } = context
      const simulation = await simulateHook({
        agent: flags.agent,
        payload: await readBytes(file, cwd),
        event: flags.event ?? null,
        agentVersion: flags.agentVersion ?? null,
        cwd,
        env,
      })
      if (flags.json === true) context.stdout.write(`${JSON.stringify(simulation, null, 2)}\n`)
      else print(simulation, context)
    })
}

async function readBytes(file: string, cwd: string): Promise<Uint8Array> {
  if (file === '-') {
    const { readInput } = await import('../../io/read-input.ts')
    const input = await readInput(0, 64 * 1024 * 1024)
    if (input !== 'too_large') return input
    throw new GantryError('USAGE', 'standard input is larger than any payload')
  }
  try {
    return readFileSync(resolve(cwd, file))
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT')
      throw new GantryError('NOT_FOUND', `${file} does not exist`, {
        hint: 'Name a file with the JSON that an agent sends to its hooks. The checkout has some in examples/guard/payloads.',
      })
    throw translateFsError(cause, `read ${file}`)
  }
}

function print({ event, decision, silent, reply }: Simulation, context: CliContext): void {
  const { bold, dim } = pc.createColors(context.stdout.color)
  const { verdict, findings, reason, context: added, notice } = decision
  context.stdout.write(`${bold(event.kind)} of ${event.agent}: ${paintVerdict(verdict, context)}\n`)
  printSections(
    [
      { title: 'Event', lines: describeEvent(event) },
      {
        title: 'Rules',
        lines: [
          ...findings.map((finding) => `${finding.rule} (${finding.verdict}): ${finding.text}`),
          ...silent.map((rule) => `${rule}: no finding`),
        ],
      },
      {
        title: 'Decision',
        lines: [
          `verdict: ${verdict}`,
          ...(reason === null ? [] : [`reason: ${reason}`]),
          ...(added === null ? [] : [`context: ${added}`]),
          ...(notice === null ? [] : [`notice: ${notice}`]),
        ],
      },
      {
        title: 'What the agent gets',
        lines: [
          `exit code ${reply.exitCode}`,
          `stdout ${JSON.stringify(reply.stdout)}`,
          `stderr ${JSON.stringify(reply.stderr)}`,
        ],
      },
    ],
    context,
  )
  context.stdout.write(dim('\nNothing was written to the ledger.\n'))
}

function describeEvent(event: HookEvent): readonly string[] {
  const { session, agentId, cwd, root } = event
  const call = 'call' in event ? event.call : undefined
  return [
    `session ${session}${agentId === null ? '' : `, subagent ${agentId}`}`,
    `in ${cwd}${root === cwd ? '' : `, project ${root}`}`,
    ...(call === undefined ? [] : [`${call.tool}: ${JSON.stringify(call.action).slice(0, 400)}`]),
  ]
}
