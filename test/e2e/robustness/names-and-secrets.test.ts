import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, smallScenario } from '../support/project.ts'
import { filesWith, onlyRun, runPath, shellAgent } from './lab.ts'

describe('the name of a scenario', () => {
  const names = [
    'with/slashes/../../and dots',
    'ünï ço∂é 日本語 🚀',
    '..',
    '-rf',
    'a'.repeat(200),
    'b'.repeat(200),
    'line\nbreak and \u001b[31mred',
    '<script>alert(1)</script> & "quotes"',
    '|pipes| and `ticks` $(touch pwned)',
    'CON',
  ]

  test('may be anything: directories are safe and every report shows it', async () => {
    using project = smallProject({
      files: Object.fromEntries(
        names.map((name, index) => [`scenarios/${index}.yaml`, smallScenario({ name })]),
      ),
    })
    const result = await gantryTest(project, [
      ...['junit', 'tap', 'md', 'html'].flatMap((name) => ['--reporter', `${name}:out/${name}`]),
    ])
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.trials.map((trial) => trial.case).sort()).toEqual(
      [...names.map((name) => name.trim()), 'case'].sort(),
    )
    const dirs = readdirSync(runPath(project, onlyRun(project), 'trials'))
    expect(dirs).toHaveLength(names.length + 1)
    for (const dir of dirs) expect(dir).toMatch(/^\d{4}-[a-z0-9-]+$/)
    expect(project.read('out/html')).not.toContain('<script>alert(1)')
    expect(project.read('out/junit')).not.toContain('<script>')
    expect(readdirSync(project.dir)).not.toContain('pwned')
    const shown = await gantry(project, ['test', '--no-cache'])
    expect(shown.stdout).not.toMatch(new RegExp(String.fromCharCode(27)))
  })

  test('of 201 characters is too long', async () => {
    using project = smallProject({ scenario: { name: 'x'.repeat(201) } })
    const { code, stderr } = await gantry(project, ['test'])
    expect(stderr).toMatch(/case\.yaml:1:7: name: must have at most 200 characters/)
    expect(code).toBe(2)
  })

  test('that two files share is refused with both of them', async () => {
    using project = smallProject({ files: { 'scenarios/twin.yaml': smallScenario() } })
    const { code, stderr } = await gantry(project, ['test'])
    expect(stderr).toMatch(
      /^error: .*twin\.yaml:1:7: two scenarios are called 'case': scenarios\/case\.yaml and scenarios\/twin\.yaml\nhint: {2}Give each scenario a unique name\./,
    )
    expect(code).toBe(2)
  })
})

describe('a secret', () => {
  const secrets = {
    byVariable: 'hunter2-correct-horse-battery',
    byShape: 'sk-abcdefghijklmnopqrstuvwxyz0123456789',
    byPattern: 'ACME-1234-5678',
  }
  const all = Object.values(secrets)

  test('is nowhere on disk or screen, whatever its source', async () => {
    const say = `printf '%s\\n' "$MY_API_KEY" ${secrets.byShape} ${secrets.byPattern}`
    using project = smallProject({
      config: { ...shellAgent({ inherit_env: ['MY_API_KEY'] }), redact: ['ACME-\\d{4}-\\d{4}'] },
      scenario: {
        target: { binary: 'sh', env: { MY_API_KEY: secretReference() } },
        setup: { commands: [say] },
        scripts: {
          post: [{ command: `${say} >&2; exit 1` }],
          evaluators: [
            { name: 'e', command: `printf '{"summary": "%s %s"}' "$MY_API_KEY" ${secrets.byShape}` },
          ],
        },
        evaluation: {
          gates: [
            { type: 'command_output_contains', command: say, substring: 'nothing' },
            { type: 'script', command: `${say}; exit 1`, description: 'd' },
          ],
        },
      },
      files: {
        'agent.sh': `${say}; ${say} >&2; printf '%s' "$MY_API_KEY" | head -c 10; sleep 0.05; printf '%s' "$MY_API_KEY" | tail -c +11`,
      },
    })
    const { code, stdout, stderr } = await gantry(
      project,
      [
        'test',
        ...['json', 'junit', 'tap', 'md', 'html'].flatMap((name) => ['--reporter', `${name}:out/${name}`]),
      ],
      { env: { MY_API_KEY: secrets.byVariable } },
    )
    expect(code).toBe(1)
    const workspaceFree = (files: string[]): string[] =>
      files.filter((file) => !/\/(inputs|fixture)\//.test(file))
    for (const secret of all) {
      expect(stdout + stderr).not.toContain(secret)
      expect(workspaceFree(filesWith(project.store, secret)), secret).toEqual([])
      expect(filesWith(project.path('out'), secret), secret).toEqual([])
    }
    // Secrets of the caller's environment are in no file.
    expect(filesWith(project.store, secrets.byVariable)).toEqual([])
  })

  test('on the command line is not kept in the manifest', async () => {
    using project = smallProject()
    const { code } = await gantry(project, ['test', '--reporter', `junit:out/${secrets.byShape}`])
    expect(code).toBe(0)
    expect(filesWith(project.store, secrets.byShape)).toEqual([])
  })

  test('in the JSON of an agent that speaks events is redacted in the log', async () => {
    using project = smallProject({
      config: shellAgent({ output: 'events' }),
      files: {
        'agent.sh': `echo > done.txt
printf '{"event":"tool_call","id":"1","tool":"Bash","command":"sh -c %s","input":{"nested":["%s"]}}\\n' ${secrets.byShape} ${secrets.byShape}
printf '{"event":"tool_result","id":"1","output":"%s","exit_code":0}\\n' ${secrets.byShape}`,
      },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
    expect(filesWith(project.store, secrets.byShape)).toEqual([])
  })
})

function secretReference(): string {
  return '$' + '{MY_API_KEY}'
}
