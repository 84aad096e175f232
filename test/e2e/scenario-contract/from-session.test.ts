import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

const at = (second: number): string => new Date(Date.now() + second * 1000).toISOString()

/** A repository with a commit, and a file that was changed after it. */
function repository(): TestProject {
  const project = makeProject({
    'repo/sum.sh': 'echo $(($1 - $2))\n',
    'repo/sum.test.cjs':
      "require('node:assert').equal(String(require('node:child_process').execSync('sh sum.sh 2 3')), '5\\n')\n",
    'repo/.env': 'TOKEN=not-a-real-one\n',
    'repo/.env.example': 'TOKEN=\n',
    'repo/.netrc': 'machine a.example login me password not-a-real-one\n',
    'repo/.npmrc': '//registry.example/:_authToken=not-a-real-one\n',
    'repo/web/.npmrc': 'save-exact=true\n',
    'repo/keys/id_ed25519': 'not a real one\n',
    'repo/credentials.json': '{}\n',
  })
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', ...args], {
      cwd: project.path('repo'),
    })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'First')
  return project
}

const lines = (list: readonly unknown[]): string => list.map((line) => `${JSON.stringify(line)}\n`).join('')

function claudeSession(cwd: string): string {
  const facts = { cwd, sessionId: 's', isSidechain: false }
  const call = (id: string, name: string, input: unknown) => ({
    ...facts,
    type: 'assistant',
    timestamp: at(2),
    message: { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
  })
  const result = (id: string, content: string, isError: boolean, toolUseResult: unknown = {}) => ({
    ...facts,
    type: 'user',
    timestamp: at(3),
    toolUseResult,
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }],
    },
  })
  const user = (content: unknown, more: object = {}) => ({
    ...facts,
    type: 'user',
    timestamp: at(1),
    message: { role: 'user', content },
    ...more,
  })
  return lines([
    { type: 'queue-operation', timestamp: at(1) },
    user('<command-name>/clear</command-name>'),
    user('This session is being continued from another one.', { isCompactSummary: true }),
    user([{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
    user('not typed by the user', { isMeta: true }),
    user('Repair sum.sh. The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.'),
    call('a', 'Bash', { command: 'node --test' }),
    result('a', 'Exit code 1', true, 'Error: Exit code 1'),
    call('b', 'Edit', { file_path: `${cwd}/sum.sh` }),
    result('b', 'ok', false, { filePath: `${cwd}/sum.sh`, originalFile: 'echo $(($1 - $2))\n# mine\n' }),
    call('c', 'Write', { file_path: `${cwd}/NOTES.md` }),
    result('c', 'ok', false, { filePath: `${cwd}/NOTES.md`, originalFile: null }),
    call('d', 'Bash', { command: 'node --test' }),
    result('d', '', false, { stdout: '' }),
    call('e', 'Bash', { command: 'ls' }),
    result('e', 'x', false, { stdout: 'x' }),
    user([{ type: 'text', text: 'And say thanks.' }]),
    'a line that is no object',
  ])
}

function codexSession(cwd: string): string {
  const item = (payload: unknown) => ({ timestamp: at(1), type: 'response_item', payload })
  const said = (text: string) =>
    item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
  const command = (id: string, cmd: string, code: number) => [
    item({ type: 'function_call', name: 'exec_command', call_id: id, arguments: JSON.stringify({ cmd }) }),
    item({
      type: 'function_call_output',
      call_id: id,
      output: `Process exited with code ${code}\nOutput:\n`,
    }),
  ]
  return lines([
    { type: 'session_meta', payload: { cwd, timestamp: at(1) } },
    said('<environment_context>\n</environment_context>'),
    said('Repair sum.sh.'),
    ...command('a', 'node --test', 1),
    ...command('b', 'node --test', 0),
  ])
}

test('a transcript of Claude Code becomes a scenario with the tree of its start', async () => {
  using project = repository()
  project.write({ 'session.jsonl': claudeSession(project.path('repo')) })
  const { code, stdout } = await gantry(project, [
    'scenario',
    'from-session',
    'session.jsonl',
    '--name',
    'sum',
    '--json',
  ])
  expect(code).toBe(0)
  const { files, decide, check } = JSON.parse(stdout) as {
    files: string[]
    decide: string[]
    check: { sound: boolean }
  }
  expect(files).toEqual(['scenarios/sum.yaml', 'scenarios/sum', 'scenarios/sum.patch'])
  expect(check.sound).toBe(true)
  expect(readdirSync(project.path('scenarios/sum'), { recursive: true }).sort()).toEqual([
    '.env.example',
    'keys',
    'sum.sh',
    'sum.test.cjs',
    'web',
    'web/.npmrc',
  ])
  expect(project.read('scenarios/sum/sum.sh')).toBe('echo $(($1 - $2))\n# mine\n')
  expect(project.read('scenarios/sum.patch')).toContain('+# mine')
  const scenario = parse(project.read('scenarios/sum.yaml'))
  expect(scenario).toMatchObject({
    name: 'sum',
    target: { binary: 'node' },
    evaluation: { gates: [{ type: 'command_succeeds', command: 'node --test' }] },
  })
  expect(scenario.task.prompt).toMatch(/^Repair sum\.sh\. The key is \S*\[REDACTED\]\.\n\nAnd say thanks\.$/)
  expect(decide.join('\n')).toContain('secrets: .env, .netrc, .npmrc, credentials.json, keys/id_ed25519.')
  expect(decide.join('\n')).toContain('prompts of 2 turns')
})

test('a session without a check gives a gate to write, and nobody calls it sound', async () => {
  using project = repository()
  const session = claudeSession(project.path('repo'))
  project.write({ 'session.jsonl': session.replaceAll('node --test', 'ls').replaceAll('Exit code 1', '') })
  const { stdout } = await gantry(project, ['scenario', 'from-session', 'session.jsonl', '--name', 'sum'])
  expect(stdout).toContain('write the gates that show whether the work is done')
  expect(stdout).not.toContain('The gates')
})

test('a rollout of Codex does too, in another directory, and the scenario can be run', async () => {
  using project = repository()
  project.write({
    'rollout.jsonl': codexSession('/gone/away'),
    'gantry.yaml': {
      agents: { fixer: { driver: 'command', command: ['sh', '-c', "echo 'echo $(($1 + $2))' > sum.sh"] } },
    },
  })
  const refused = await gantry(project, ['scenario', 'from-session', 'rollout.jsonl'])
  expect(refused.stderr).toContain('/gone/away is not in a git repository')
  expect(refused.code).toBe(2)
  const made = await gantry(project, ['scenario', 'from-session', 'rollout.jsonl', '--repository', 'repo'])
  expect(made.stdout).toContain('Wrote scenarios/repair-sum-sh.yaml')
  expect(made.stdout).toContain('What was not committed at the start is not recorded')
  expect((await gantry(project, ['test', '--agent', 'fixer'])).code).toBe(0)
})

test('checks run where the session ran them, and nothing leads back to its repository', async () => {
  using project = repository()
  const root = project.path('repo')
  const commands = [
    { cwd: root, command: `cd ${root}/web && npm test -- --out ${root}/report.txt` },
    { cwd: `${root}/web`, command: `npm test -- --out ${root}/report.txt` },
    { cwd: `${root}/web`, command: './node_modules/.bin/vitest run' },
    { cwd: project.path('elsewhere'), command: 'npm test' },
    { cwd: root, command: `cd ${project.path('elsewhere')}; npm test` },
  ]
  project.write({
    'session.jsonl': lines([
      {
        type: 'user',
        cwd: root,
        timestamp: at(1),
        message: { content: `Repair ${root}/sum.sh, not ${root}-old.` },
      },
      ...commands.flatMap(({ cwd, command }, index) => [
        {
          type: 'assistant',
          cwd,
          message: { content: [{ type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command } }] },
        },
        { type: 'user', cwd, message: { content: [{ type: 'tool_result', tool_use_id: `t${index}` }] } },
      ]),
    ]),
  })
  await gantry(project, ['scenario', 'from-session', 'session.jsonl', '--name', 'sum'])
  expect(parse(project.read('scenarios/sum.yaml'))).toMatchObject({
    target: { binary: 'npm' },
    task: { prompt: `Repair ./sum.sh, not ${root}-old.` },
    evaluation: {
      gates: [
        { command: 'cd web && npm test -- --out ../report.txt' },
        { command: 'cd web && ./node_modules/.bin/vitest run' },
      ],
    },
  })
})

test('files as they were at the start come back also when the repository has moved', async () => {
  using project = repository()
  project.write({ 'session.jsonl': claudeSession('/gone/away') })
  const made = await gantry(project, [
    'scenario',
    'from-session',
    'session.jsonl',
    '--repository',
    'repo',
    '--name',
    'sum',
  ])
  expect(made.stdout).toContain('scenarios/sum.patch')
  expect(project.read('scenarios/sum/sum.sh')).toContain('# mine')
})

test('a file behind a link that leads out of the repository is left alone', async () => {
  using project = repository()
  const root = project.path('repo')
  project.write({ 'outside/notes.md': 'now\n', 'outside/kept.md': 'mine\n' })
  symlinkSync(project.path('outside'), project.path('repo/docs'))
  execFileSync('git', ['add', '-A'], { cwd: root })
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '-qm', 'Link'], {
    cwd: root,
  })
  const touched = (name: string, originalFile: string | null) => ({
    type: 'user',
    cwd: root,
    toolUseResult: { filePath: `${root}/docs/${name}`, originalFile },
    message: { content: [{ type: 'tool_result', tool_use_id: name }] },
  })
  project.write({
    'session.jsonl': lines([
      { type: 'user', cwd: root, timestamp: at(60), message: { content: 'Write the notes.' } },
      touched('notes.md', 'then\n'),
      touched('kept.md', null),
    ]),
  })
  await gantry(project, ['scenario', 'from-session', 'session.jsonl'])
  expect(project.read('outside/notes.md')).toBe('now\n')
  expect(project.read('outside/kept.md')).toBe('mine\n')
})

/** A session with one prompt and these commands, each red first where that is asked for. */
function ranCommands(cwd: string, commands: readonly string[], more: object = {}): string {
  return lines([
    { type: 'user', cwd, message: { content: 'Repair it.' }, ...more },
    ...commands.flatMap((command, index) =>
      [1, 0].flatMap((exit) => [
        {
          type: 'assistant',
          cwd,
          message: {
            content: [{ type: 'tool_use', id: `${index}.${exit}`, name: 'Bash', input: { command } }],
          },
        },
        {
          type: 'user',
          cwd,
          message: {
            content: [
              {
                type: 'tool_result',
                tool_use_id: `${index}.${exit}`,
                content: `Exit code ${exit}`,
                is_error: exit === 1,
              },
            ],
          },
        },
      ]),
    ),
  ])
}

test('only known checks become gates and run; the others are listed', async () => {
  using project = repository()
  const mark = project.path('deployed')
  const known = ['node --test', 'API_KEY=not-a-real-one-123 node --test sum.test.cjs', ...'abcd'].map(
    (name) => (name.length === 1 ? `node --test --test-name-pattern=${name} .` : name),
  )
  const unknown = [
    `sh deploy.sh; echo x >> ${mark}`,
    `node --test; touch ${mark}`,
    `node --test > ${mark}`,
    `node --test | tee ${mark}`,
    `node --test --test-reporter-destination=${mark}`,
    `. ./deploy.sh && node --test`,
    `node --test "$(touch ${mark})"`,
    'npm run build && npm publish',
  ]
  project.write({ 'session.jsonl': ranCommands(project.path('repo'), [...known, ...unknown]) })
  const { stdout } = await gantry(project, ['scenario', 'from-session', 'session.jsonl', '--json'])
  const { checks, decide } = JSON.parse(stdout) as { checks: string[]; decide: string[] }
  expect(existsSync(mark)).toBe(false)
  expect(checks).toEqual(known.slice(0, 5).map((line) => line.replace('not-a-real-one-123', '[REDACTED]')))
  const gates = parse(project.read('scenarios/repair-it.yaml')).evaluation.gates as { command: string }[]
  expect(gates.map(({ command }) => command)).toEqual(checks)
  const said = decide.join('\n')
  expect(said).toContain(`1 more check did not become gates: ${known[5]}`)
  expect(said).toContain('A secret was removed from these gates, so they may fail: API_KEY=[REDACTED]')
  for (const command of unknown) expect(said).toContain(command)
})

test('the output names the commands that the check ran', async () => {
  using project = repository()
  project.write({ 'session.jsonl': ranCommands(project.path('repo'), ['node --test']) })
  const { stdout } = await gantry(project, ['scenario', 'from-session', 'session.jsonl'])
  expect(stdout).toContain('Ran in a copy of the template:\n- node --test\n')
  expect(stdout).toContain('the one checked out now, because the session has no times')
})

test('a commit that the repository does not have is named', async () => {
  using project = repository()
  const meta = { cwd: project.path('repo'), timestamp: at(1), git: { commit_hash: 'f'.repeat(40) } }
  project.write({
    'session.jsonl': codexSession(meta.cwd).replace(
      /^.*\n/,
      lines([{ type: 'session_meta', payload: meta }]),
    ),
  })
  const { stdout } = await gantry(project, ['scenario', 'from-session', 'session.jsonl'])
  expect(stdout).toContain(`The repository does not have ${'f'.repeat(40)}, where the session began.`)
  expect(stdout).toContain('the last one before the session began')
})

test.each(['', ' ', 'x'.repeat(201)])('the name %j is refused before anything is written', async (name) => {
  using project = repository()
  project.write({ 'session.jsonl': ranCommands(project.path('repo'), []) })
  const { code, stderr } = await gantry(project, [
    'scenario',
    'from-session',
    'session.jsonl',
    `--name=${name}`,
  ])
  expect(stderr).toContain('the name of a scenario has 1 to 200 characters')
  expect(code).toBe(2)
  expect(existsSync(project.path('scenarios'))).toBe(false)
})

test('a beginning of an id that fits two guarded sessions is refused with both', async () => {
  using project = repository()
  project.write({ 'guard/projects/p/sessions/ab1.jsonl': '', 'guard/projects/p/sessions/ab2.jsonl': '' })
  const { code, stderr } = await gantry(project, ['scenario', 'from-session', 'ab'], {
    env: { GANTRY_GUARD_HOME: project.path('guard') },
  })
  expect(stderr).toContain(
    `${project.path('guard/projects/p/sessions/ab1.jsonl')}, ${project.path('guard/projects/p/sessions/ab2.jsonl')}`,
  )
  expect(code).toBe(2)
})

test.each([
  ['none.jsonl', 'is neither a file nor a session of the guard'],
  ['other.jsonl', 'is not a session of Claude Code, Codex or the guard'],
  ['silent.jsonl', 'has no prompt of a user'],
])('%s is refused, and nothing is written', async (name, message) => {
  using project = repository()
  project.write({
    'other.jsonl': '{"a":1}\nnot json\n',
    'silent.jsonl': lines([
      { type: 'session_meta', payload: { cwd: project.path('repo'), timestamp: at(1) } },
    ]),
  })
  const { code, stderr } = await gantry(project, ['scenario', 'from-session', name])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
  expect(existsSync(project.path('scenarios'))).toBe(false)
})

test.each(['sum.yaml', 'sum.patch'])('%s that exists is not replaced', async (file) => {
  using project = repository()
  project.write({ 'session.jsonl': claudeSession(project.path('repo')), [`scenarios/${file}`]: 'mine' })
  const { code, stderr } = await gantry(project, [
    'scenario',
    'from-session',
    'session.jsonl',
    '--name',
    'sum',
  ])
  expect(stderr).toContain(`scenarios/${file} already exists`)
  expect(code).toBe(2)
  expect(project.read(`scenarios/${file}`)).toBe('mine')
})
