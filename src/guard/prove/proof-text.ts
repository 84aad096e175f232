import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { wrapText } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { textTable } from '../../report/text-table.ts'
import type { InstallationCheck } from './check-installation.ts'
import type { AgentProof, GuardProof } from './prove.ts'
import type { ProofVerdict, ProvenGate } from './prove-agent.ts'

export interface ProofTextOptions {
  /** Sentences wrap at this width. */
  readonly columns: number
  /** Maximum table width; Infinity when the output is not a terminal. */
  readonly tableWidth: number
  readonly color: boolean
}

/** For the terminal: a table per agent, followed by what the agent cannot do. */
export function proofText({ agents, switchedOff, verdict }: GuardProof, look: ProofTextOptions): string {
  const { bold, yellow } = pc.createColors(look.color)
  const lines = agents.flatMap((proof) => [...agentLines(proof, look), ''])
  if (switchedOff.length > 0) {
    lines.push(yellow('The settings of this project differ from those of the proof:'))
    for (const text of switchedOff) lines.push(...sentence(text, look, '  '))
    lines.push('')
  }
  lines.push(bold(closing[verdict]))
  return `${lines.join('\n')}\n`
}

const closing: Readonly<Record<GuardProof['verdict'], string>> = {
  fires: 'Everything that can be enforced fires.',
  'does not fire': 'Some checks did not fire.',
  'not shown': 'Some checks could not be run.',
}

function agentLines(proof: AgentProof, look: ProofTextOptions): readonly string[] {
  const { bold, dim, red } = pc.createColors(look.color)
  const { name, agent, version, problem, installation, gates, durationMs } = proof
  const who = name === agent ? agent : `${name} (${agent})`
  const title = `${bold(plainLine(who))} ${version ?? ''}`.trimEnd()
  const about = installationLines(installation).flatMap((text) => sentence(text, look, '  '))
  if (problem !== null) return [title, ...about, ...sentence(problem, look, '  ').map(red)]
  const table = tableOf(gates, look)
  return [
    `${title}${dim(`, in ${formatDuration(durationMs)}`)}`,
    ...about,
    '',
    `  ${dim(table.heading)}`,
    ...gates.map((row) => `  ${table.line(row)}`),
    ...gates.flatMap(({ gate, verdict, why }) =>
      why === null ? [] : ['', ...sentence(`${gate} ${verdict}: ${why}`, look, '  ')],
    ),
  ]
}

function tableOf(gates: readonly ProvenGate[], { tableWidth, color }: ProofTextOptions) {
  const paints = paintsOf(color)
  return textTable<ProvenGate>(
    [
      { title: 'GATE', text: ({ gate }) => gate },
      { title: 'EXPECTED', shorten: 'end', dropAt: 2, minWidth: 20, text: ({ expected }) => expected },
      { title: 'SEEN', shorten: 'end', minWidth: 16, text: ({ seen }) => plainLine(seen) },
      {
        title: 'VERDICT',
        text: ({ verdict }) => verdict,
        paint: (text, { verdict }) => paints[verdict](text),
      },
      { title: 'TIME', align: 'right', dropAt: 1, text: ({ durationMs }) => formatDuration(durationMs) },
    ],
    gates,
    Math.max(20, tableWidth - 2),
  )
}

function paintsOf(color: boolean): Readonly<Record<ProofVerdict, (text: string) => string>> {
  const { green, red, yellow } = pc.createColors(color)
  return { fires: green, 'does not fire': red, 'cannot be enforced': yellow, 'not shown': red }
}

function installationLines({ state, paths, seal, problems }: InstallationCheck): readonly string[] {
  const where = paths.join(', ')
  const stands = {
    absent: 'Not installed here. The proof uses the hooks that `gantry guard install` would write.',
    same: `Installed in ${where}, with the same program and arguments as in this proof.`,
    different: `Installed in ${where}, but with a different program or arguments than in this proof.`,
    uncompared: `Installed by the plugin enabled in ${where}. The plugin starts its own program, which is not compared.`,
  }[state]
  const sealed = { none: [], intact: ['The seal is intact.'], broken: ['The seal is broken.'] }[seal]
  return [stands, ...sealed, ...problems.map((problem) => `problem: ${problem}`)]
}

function sentence(text: string, { columns }: ProofTextOptions, indent: string): readonly string[] {
  return wrapText(plainLine(text), Math.max(20, columns - indent.length)).map((line) => `${indent}${line}`)
}
