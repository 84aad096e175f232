import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { GantryError } from '../../core/error.ts'
import type { HookEvent } from '../../core/hook-event.ts'
import type { Simulation } from '../../guard/simulate.ts'
import { translateFsError } from '../../io/fs-error.ts'
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
    .argument('<payload>', "file with the payload as the agent hands it over; '-' for standard input")
    .addOption(
      new Option('--agent <name>', 'whose payload it is').choices(installableAgents).default('claude-code'),
    )
    .option('--event <name>', "the event's name, where the payload does not carry it")
    .option('--agent-version <version>', 'the version of the agent the answer is for')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (file: string, flags: SimulateFlags) => {
      const { hookCodecs } = await import('../../agents/hook-codecs.ts')
      const { readPayload } = await import('../../guard/hook/answer-hook.ts')
      const { ownPlace } = await import('../../guard-install/own-place.ts')
      const { simulate } = await import('../../guard/simulate.ts')
      const { rules } = await import('../../rules/index.ts')
      const { openGuard } = await import('../../guard-engine/open-guard.ts')
      const { env, cwd } = context
      const { guardHome, hookBin, agentFiles } = ownPlace(cwd, env)
      const simulation = await simulate({
        payload: readPayload(await readBytes(file, cwd)),
        codec: hookCodecs[flags.agent],
        // A payload that does not tell where it happened is taken to have happened here.
        caller: {
          event: flags.event ?? null,
          env: { ...env, PWD: cwd },
          version: flags.agentVersion ?? null,
        },
        guard: openGuard({ rules, guardHome, env, hookBin, own: agentFiles }),
        rules,
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
    throw translateFsError(cause, `read ${file}`)
  }
}

function print({ event, decision, silent, reply }: Simulation, context: CliContext): void {
  const { bold, dim } = pc.createColors(context.stdout.color)
  const { verdict, findings, reason, context: told, notice } = decision
  context.stdout.write(`${bold(event.kind)} of ${event.agent}: ${paintVerdict(verdict, context)}\n`)
  printSections(
    [
      { title: 'Event', lines: describeEvent(event) },
      {
        title: 'Rules',
        lines: [
          ...findings.map((finding) => `${finding.rule} (${finding.verdict}): ${finding.text}`),
          ...silent.map((rule) => `${rule}: nothing to say`),
        ],
      },
      {
        title: 'Decision',
        lines: [
          `verdict: ${verdict}`,
          ...(reason === null ? [] : [`reason: ${reason}`]),
          ...(told === null ? [] : [`context: ${told}`]),
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
