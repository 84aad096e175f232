import { Command } from 'commander'
import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import type { Explanation } from '../../guard/explain.ts'
import type { CliContext } from '../context.ts'
import { paintVerdict, printSections } from './print-sections.ts'

export function explainCommand(context: CliContext): Command {
  return new Command('explain')
    .description('Explain a decision of the guard: the event, the rules that applied, and their evidence.')
    .argument('<decision>', "the id a reason ends with, or 'latest'")
    .option(
      '--root <dir>',
      "the project 'latest' is looked for in (default: the one around the working directory)",
    )
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (wanted: string, flags: { readonly root?: string; readonly json?: boolean }) => {
      const { explainNow } = await import('../../guard/explain.ts')
      const { treeNow } = await import('../../guard-engine/facts/tree-now.ts')
      const { findRoot, guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
      const root = findRoot(flags.root ?? context.cwd)
      const request = { guardHome: guardHome(context.env), root, wanted }
      const explanation = await explainNow(request, () => treeNow(root, context.env))
      if (flags.json === true) context.stdout.write(`${JSON.stringify(explanation, null, 2)}\n`)
      else print(explanation, context)
    })
}

function describeNote(note: Explanation['decision']['notes'][number]): string {
  if (note.kind === 'evidence')
    return `a run of \`${note.evidence.command}\`: exit ${note.evidence.exitCode}, seen by ${note.by}`
  if (note.kind === 'tests_seen')
    return `what defines the checks, and ${counted(Object.keys(note.inventory.files).length, 'test file')}`
  const { kind, ...fields } = note
  const shown = (value: unknown): string =>
    Array.isArray(value)
      ? value.map(shown).join('; ')
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : `${name} ${shown(value)}`,
  )
  return [kind.replaceAll('_', ' '), ...parts].join(', ')
}

function print({ decision, event, evidence, facts, change, ledger }: Explanation, context: CliContext): void {
  const { bold, dim } = pc.createColors(context.stdout.color)
  const { verdict, reason, context: added, notice, findings, notes, engineMs, at, id } = decision
  const { kind, agent, session, agentId, call, cwd } = event.event
  context.stdout.write(`${bold(id)} ${paintVerdict(verdict, context)} ${dim(`${at}, in ${engineMs} ms`)}\n`)
  const rules = findings.map((finding) => `${finding.rule} (${finding.verdict}): ${finding.text}`)
  printSections(
    [
      {
        title: 'Event',
        lines: [
          `${kind} of ${agent}, session ${session}${agentId === null ? '' : `, subagent ${agentId}`}`,
          `in ${cwd}`,
          ...(call === undefined ? [] : [`${call.tool} ${call.command ?? call.paths.join(' ')}`]),
        ],
      },
      { title: 'Rules that applied', lines: rules.length === 0 ? ['none'] : rules },
      { title: 'Evidence', lines: evidence.map(describeEvidence) },
      { title: 'Facts', lines: facts.map(({ name, value }) => `${name}: ${value}`) },
      { title: 'Remembered', lines: notes.map(describeNote) },
      { title: 'What would change it', lines: change },
      {
        title: 'Messages',
        lines: [
          ...(reason === null ? [] : [`to the model, reason: ${reason}`]),
          ...(added === null ? [] : [`to the model, context: ${added}`]),
          ...(notice === null ? [] : [`to the user: ${notice}`]),
        ],
      },
      { title: 'Ledger', lines: [ledger] },
    ],
    context,
  )
}

function describeEvidence(evidence: Explanation['evidence'][number]): string {
  const { command, status, by, at, rejected, isStaleNow } = evidence
  const from = at === null ? '' : `, run at ${at}${by === null ? '' : `, seen by ${by}`}`
  const now = isStaleNow === true ? '; stale now, because files changed after it' : ''
  return `${command}: ${status}${from}${now}${rejected === null ? '' : `; last run did not count: ${rejected}`}`
}
