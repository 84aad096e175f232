import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Figure, inTemporary, median, timed } from './figure.ts'
import { bareNode, type GuardLab, openLab } from './guard-lab.ts'

const rounds = 15
const shellScript = join(import.meta.dirname, 'shell-hooks.sh')

/** A hook with a helper against a bare Node: all events of a session. */
export async function helpedHook(): Promise<Figure> {
  return figure({
    name: 'hook with a helper, all events',
    atMost: 0.35,
    against: 'node',
    baseline: 'node -e 0',
  })
}

/** The same against hooks of Bash and jq, for the events that those have. */
export async function helpedHookBesideShell(): Promise<Figure> {
  return figure({
    name: 'hook with a helper, beside hooks of Bash and jq',
    atMost: 1 / 40,
    against: 'shell',
    baseline: 'the shell hooks',
  })
}

interface Bound {
  readonly name: string
  readonly atMost: number
  readonly against: 'node' | 'shell'
  readonly baseline: string
}

/** The 50th percentile of both sides over all events and rounds. The processor time is steadier on a machine that does other work. */
async function figure({ name, atMost, against, baseline }: Bound): Promise<Figure> {
  const { ours, node, shell } = await measure()
  const theirs = against === 'node' ? node : shell
  const ratio = median(against === 'node' ? ours.ms : ours.shellEventsMs) / median(theirs.ms)
  return {
    name,
    limit: `at most ${atMost}x ${baseline}`,
    ratio,
    ok: ratio <= atMost,
    detail: {
      p50Ms: median(ours.ms),
      nodeP50Ms: median(node.ms),
      shellP50Ms: median(shell.ms),
      cpuMs: ours.cpuMs,
      nodeCpuMs: node.cpuMs,
      shellCpuMs: shell.cpuMs,
      helperMb: ours.helperMb,
      rounds,
    },
  }
}

type Measured = Awaited<ReturnType<typeof measureOnce>>
let known: Promise<Measured> | null = null

/** Both figures come from one run, in which everything takes turns. */
function measure(): Promise<Measured> {
  known ??= measureOnce()
  return known
}

function measureOnce() {
  return inTemporary(async (directory) => {
    const lab = openLab(directory, {})
    const shellRoot = join(directory, 'shell')
    const config = join(directory, 'harness.json')
    writeFileSync(
      config,
      '{"middleware": {"loop_detection": {"edit_threshold": 5}}, "state": {"dir": ".harness"}}\n',
    )
    for (const root of [lab.root, shellRoot]) makeProject(root)
    lab.hook('SessionStart', lab.payload('SessionStart', { source: 'startup' }))
    for (let tries = 0; lab.helper() === null; tries += 1) {
      if (tries > 400) throw new Error('no helper')
      await wait(25)
    }
    const helper = lab.helper() ?? 0
    // What the helper compiles in the first rounds is not measured.
    for (let round = 0; round < 3; round += 1)
      for (const [event, more] of session(lab.root, -round)) lab.hook(event, lab.payload(event, more))
    const ours = { ms: [] as number[], shellEventsMs: [] as number[], cpuMs: 0, helperMb: 0 }
    const node = { ms: [] as number[], cpuMs: 0 }
    const shell = { ms: [] as number[], cpuMs: 0 }
    const cpu = { ours: 0, node: 0, shell: 0 }
    const spent = async (side: keyof typeof cpu, pids: readonly number[], work: () => unknown) => {
      const before = cpuMsOf(pids)
      const ms = await timed(work)
      cpu[side] += cpuMsOf(pids) - before
      return ms
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [event, more] of session(lab.root, round)) {
        const ms = await spent('ours', [process.pid, helper], () => lab.hook(event, lab.payload(event, more)))
        ours.ms.push(ms)
        if (shellEvents.has(event)) ours.shellEventsMs.push(ms)
        node.ms.push(await spent('node', [process.pid], () => bareNode(lab.env)))
      }
      for (const [event, more] of session(shellRoot, round)) {
        if (!shellEvents.has(event)) continue
        const input = lab.payload(event, { ...more, cwd: shellRoot })
        shell.ms.push(await spent('shell', [process.pid], () => shellHook(lab, event, { config, input })))
      }
    }
    ours.helperMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${helper}/status`, 'utf8'))?.[1]) / 1024
    if (lab.helper() !== helper) throw new Error('the helper did not last')
    process.kill(helper)
    ours.cpuMs = cpu.ours / ours.ms.length
    node.cpuMs = cpu.node / node.ms.length
    shell.cpuMs = cpu.shell / shell.ms.length
    return { ours, node, shell }
  })
}

const shellEvents = new Set(['SessionStart', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'])

/** One turn of an agent, as Claude Code reports it. */
function session(root: string, round: number): readonly (readonly [string, object])[] {
  const calls = [
    ['Read', { file_path: join(root, 'src/a.ts') }, { file: { content: 'x' } }],
    [
      'Bash',
      { command: `ls -la src | head -${round + 9}` },
      { stdout: 'a.ts', stderr: '', interrupted: false },
    ],
    [
      'Edit',
      { file_path: join(root, `src/${round}.ts`), old_string: 'a', new_string: `b${round}` },
      { filePath: join(root, `src/${round}.ts`) },
    ],
    ['Bash', { command: 'npm test' }, { stdout: '3 passed', stderr: '', interrupted: false }],
  ] as const
  return [
    ['SessionStart', { source: 'resume' }],
    ['UserPromptSubmit', { prompt: 'Fix it.' }],
    ...calls.flatMap(([tool_name, tool_input, tool_response], index) => {
      const call = { tool_name, tool_input, tool_use_id: `t${round}-${index}` }
      return [['PreToolUse', call] as const, ['PostToolUse', { ...call, tool_response }] as const]
    }),
    ['Stop', { stop_hook_active: false, last_assistant_message: 'Done.' }],
    ['PreCompact', { trigger: 'auto', custom_instructions: null }],
  ]
}

function makeProject(root: string): void {
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, 'src/a.ts'), 'export const a = 1\n')
  writeFileSync(join(root, 'AGENTS.md'), '# Verification\n\n- `npm test`\n')
  writeFileSync(join(root, 'IMPLEMENTATION_PLAN.md'), '- [x] First\n- [ ] Second\n')
  writeFileSync(join(root, 'package.json'), '{"scripts": {"test": "node --test"}}\n')
}

function shellHook(
  { env }: GuardLab,
  event: string,
  { config, input }: { readonly config: string; readonly input: string },
): void {
  const { status, stderr } = spawnSync(shellScript, [event, config], { env, input, encoding: 'utf8' })
  if (status !== 0 && event !== 'Stop')
    throw new Error(`the shell hook ended with ${status}, jq must be installed: ${stderr}`)
}

/** Processor time of these processes and of their children that have ended. */
function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // Our own part is not that of a hook.
    const from = pid === process.pid ? 13 : 11
    const ticks = fields.slice(from, 15).reduce((total, ticks) => total + Number(ticks), 0)
    return sum + ticks * 10
  }, 0)
}
