import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CorpusSequence, corpusProject, editedSource } from './honest-corpus.ts'
import type { HookLab } from './hook-lab.ts'
import { setGreenOutput, writeStandIns } from './stand-in-runners.ts'

/** The answer of the first stop. */
export interface PlayedStop {
  readonly refused: boolean
  readonly reason: string
}

/**
 * Plays a session with the hooks of Claude Code: every edit is made and every command is run in a real shell between its hooks, as
 * Claude Code does it. With `program` the published hook program answers, otherwise its code in this process. With `red` the runners fail.
 * With `onlyReads` the guard runs nothing itself, so its reading of the calls decides.
 */
export async function playForReal(
  lab: HookLab,
  { project: name, steps, output }: CorpusSequence,
  { red = false, program = false, onlyReads = false } = {},
): Promise<PlayedStop> {
  const project = corpusProject(name)
  const bin = join(lab.top, 'stand-ins')
  for (const path of [lab.guardHome, lab.root, bin]) rmSync(path, { recursive: true, force: true })
  writeStandIns(bin)
  setGreenOutput(bin, project.programs)
  for (const [path, text] of Object.entries(project.files))
    write(path, text.replaceAll('/home/dev/app', lab.root))
  write('.gitignore', 'node_modules/\n.venv/\n')
  if (red) write('RED', '')
  for (const link of project.links) {
    mkdirSync(dirname(join(lab.root, link)), { recursive: true })
    symlinkSync(join(bin, 'stand-in'), join(lab.root, link))
  }
  if (existsSync(join(lab.root, '.venv'))) write('.venv/bin/activate', '')
  if (!('README.md' in project.files)) write('README.md', '# Sample\n')
  initRepository()
  let calls = 0
  await send('SessionStart', { source: 'startup' })
  await edit(project.source, editedSource(project))
  for (const [index, step] of steps.entries())
    if (typeof step === 'string')
      await run(
        step.replaceAll('/home/dev/app', lab.root),
        index === steps.length - 1 && !red ? output : undefined,
      )
    else for (const [path, text] of Object.entries(step.write)) await edit(path, text)
  const { stdout } = await send('Stop', { stop_hook_active: false, last_assistant_message: 'Done.' })
  const answer = stdout === '' ? {} : JSON.parse(stdout)
  return { refused: answer.decision === 'block', reason: answer.reason ?? '' }

  /** With a commit, and a remote to push to. */
  function initRepository(): void {
    const remote = join(lab.top, 'remote.git')
    rmSync(remote, { recursive: true, force: true })
    for (const args of [
      ['init', '-q', '--bare', remote],
      ['init', '-q', '-b', 'main'],
      ['config', 'user.name', 'dev'],
      ['config', 'user.email', 'dev@example.com'],
      ['config', 'push.autoSetupRemote', 'true'],
      ['remote', 'add', 'origin', remote],
      ['add', '-A'],
      ['commit', '-q', '-m', 'start'],
    ])
      spawnSync('git', args, { cwd: lab.root })
  }

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(lab.root, path)), { recursive: true })
    writeFileSync(join(lab.root, path), text, path.endsWith('.sh') ? { mode: 0o755 } : {})
  }

  async function send(event: string, more: object) {
    // The guard looks for the tools where the agent's shell finds them.
    const env = { PATH: `${bin}:${lab.env.PATH}`, ...(onlyReads && { HARNESS_VERIFY: 'agent' }) }
    const payload = lab.payload(event, more)
    const ended = program
      ? await lab.start(['--agent', 'claude-code', event], payload, env).result
      : await lab.answer('claude-code', event, payload, env)
    if (ended.code !== 0 && ended.code !== 2) throw new Error(`${event}: ${ended.stderr}`)
    return ended
  }

  async function edit(path: string, text: string): Promise<void> {
    calls += 1
    const common = {
      tool_name: 'Write',
      tool_input: { file_path: join(lab.root, path), content: text },
      tool_use_id: `t${calls}`,
    }
    await send('PreToolUse', common)
    write(path, text)
    await send('PostToolUse', { ...common, tool_response: { filePath: join(lab.root, path) } })
  }

  /** `shown`: what it prints instead of the green output of the runners. */
  async function run(command: string, shown?: string): Promise<void> {
    calls += 1
    const common = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `t${calls}` }
    const before = await send('PreToolUse', common)
    if (before.code === 2) throw new Error(`denied: ${before.stderr}`)
    const env = { ...lab.env, PATH: `${bin}:${lab.env.PATH}`, NO_UPDATE_NOTIFIER: '1' }
    const ended = spawnSync('bash', ['-c', command], { cwd: lab.root, env, encoding: 'utf8' })
    const { status, stdout, stderr } = shown === undefined ? ended : { ...ended, stdout: shown, stderr: '' }
    if (status === 0)
      await send('PostToolUse', { ...common, tool_response: { stdout, stderr, interrupted: false } })
    else
      await send('PostToolUseFailure', {
        ...common,
        error: `Exit code ${status ?? 1}\n${stdout}${stderr}`,
        is_interrupt: false,
      })
  }
}
