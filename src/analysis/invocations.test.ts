import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TargetInvocation, ToolUse } from './contract.ts'
import { findInvocations, findTranscriptInvocations, recordedInvocations } from './invocations.ts'
import type { TargetTool } from './target.ts'

const tool: TargetTool = { binary: 'tool' }

describe('finds the target', () => {
  test.each<[string, string[]]>([
    ['tool add milk', ['tool add milk']],
    ['  tool   add\tmilk  ', ['tool add milk']],
    ['/opt/bin/tool add', ['/opt/bin/tool add']],
    ['cd x && tool a', ['tool a']],
    ['tool a && tool b || tool c; tool d', ['tool a', 'tool b', 'tool c', 'tool d']],
    ['cat list | tool import | head -1', ['tool import']],
    ['(cd x; tool a)', ['tool a']],
    ['{ tool a; tool b; }', ['tool a', 'tool b']],
    ['echo "found $(tool count) of `tool total`"', ['tool count', 'tool total']],
    ['N=$(tool count)', ['tool count']],
    ['X=1 tool a', ['tool a']],
    ['env -u A X=1 tool a', ['tool a']],
    ['sudo -u me tool a', ['tool a']],
    ['time tool a', ['tool a']],
    ['timeout -k 1 5 tool a', ['tool a']],
    ['nohup nice -n 5 tool a &', ['tool a']],
    ['ls | xargs -n 1 -I {} tool check {}', ['tool check {}']],
    ['find . -name x -exec tool check {} \\;', ['tool check {}']],
    ['npx -y tool a', ['tool a']],
    ['uv run tool a', ['tool a']],
    ['yarn run tool a', ['tool a']],
    ["npx -c 'tool a && tool b'", ['tool a', 'tool b']],
    ['doas -u me flock x.lock tool a', ['tool a']],
    ["su me -c 'tool a'", ['tool a']],
    ['watch -n 1 tool a', ['tool a']],
    ['python -m tool a', ['tool a']],
    ["bash -lc 'tool a && tool b'", ['tool a', 'tool b']],
    ["/bin/bash -o pipefail -c 'tool a'", ['tool a']],
    [`sh -c "bash -c 'tool a'"`, ['tool a']],
    ['eval "tool a"', ['tool a']],
    ['bash <<EOF\ntool a\nEOF', ['tool a']],
    ['for i in 1 2; do tool add $i; done', ['tool add $i']],
    ['if tool check; then tool a; else tool b; fi', ['tool check', 'tool a', 'tool b']],
    ['while read -r x; do tool add "$x"; done < list', ['tool add "$x"']],
    ['T=./tool; $T add && "\u0024{T}" list', ['./tool add', './tool list']],
    ['diff <(tool a) <(tool b)', ['tool a', 'tool b']],
    ['"tool" a', ['"tool" a']],
    ['# tool a\ntool b', ['tool b']],
    ['tool\\\n  add \\\n  milk', ['tool add milk']],
    ['bash -c "tool a $(tool b)"', ['tool b', 'tool a $(tool b)']],
    ['sh -c "$(tool print)"', ['tool print']],
  ])('in %s', async (command, expected) => {
    expect((await find(command)).map((each) => each.command)).toEqual(expected)
  })

  test.each([
    'echo tool add',
    'grep -r "tool add" docs',
    'cat tool',
    'command -v tool',
    'which tool',
    'toolbox add',
    'mytool add',
    'ls tool/',
    'git commit -m "tool a; tool b"',
    'python -c "import tool"',
    "cat <<'EOF'\ntool a\nEOF",
    'sudo -v',
    'bash',
    '',
  ])('but not in %j', async (command) => {
    expect(await find(command)).toEqual([])
  })

  test.each([
    './taskmgr.sh add',
    'sh ./taskmgr.sh add',
    'bash -x taskmgr.sh add',
    'cd /w && ./taskmgr.sh add',
    '. ./taskmgr.sh add',
  ])('as a script: %s', async (command) => {
    const found = await find(command, 0, { binary: './taskmgr.sh' })
    expect(found).toMatchObject([{ subcommand: 'add' }])
  })

  test.each(['python tool.py add', 'python3.12 -u -W ignore tool.py add', 'uv run python ./tool.py add'])(
    'behind an interpreter: %s',
    async (command) => {
      expect(await find(command, 0, { binary: 'tool.py' })).toMatchObject([{ subcommand: 'add' }])
    },
  )

  test('as a shell itself, and not a second time inside its script', async () => {
    expect(await find("bash -c 'bash x'", 0, { binary: 'bash' })).toHaveLength(1)
  })

  test('keeps the input of a command as part of its identity, but not its output', async () => {
    const commands = async (command: string): Promise<string[]> =>
      (await find(command)).map((each) => each.command)
    expect(await commands('tool list > out.txt 2>&1')).toEqual(['tool list'])
    expect(await commands('tool import < a.json')).toEqual(['tool import < a.json'])
    expect(await commands('tool add <<EOF\nmilk\nEOF')).not.toEqual(
      await commands('tool add <<EOF\nbread\nEOF'),
    )
  })

  test('only in tool uses that ran a command, in order', async () => {
    const { invocations } = await findInvocations(
      [use('tool a', 0), { tool: 'Read', ts: 0, input: { path: 'tool a' } }, use('tool b', 1)],
      tool,
    )
    expect(invocations.map(({ command, exitCode }) => [command, exitCode])).toEqual([
      ['tool a', 0],
      ['tool b', 1],
    ])
  })

  test('line by line in a command that is not valid shell', async () => {
    expect(await find('tool add "milk\ncd x', 2)).toMatchObject([
      { command: 'tool add "milk', exitCode: 2, approximate: true },
    ])
    expect(await find(`bash -lc 'tool add "milk'`, 2)).toMatchObject([{ exitCode: 2, approximate: true }])
  })
})

describe('assigns only exit codes that are certain', () => {
  type Expected = [string, number | null, boolean]
  test.each<[string, number, Expected[]]>([
    ['tool a', 3, [['tool a', 3, false]]],
    [
      'tool a; tool b',
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, false],
      ],
    ],
    [
      'tool a\ntool b',
      0,
      [
        ['tool a', null, false],
        ['tool b', 0, false],
      ],
    ],
    [
      'tool a && tool b',
      0,
      [
        ['tool a', 0, false],
        ['tool b', 0, false],
      ],
    ],
    [
      'tool a && tool b',
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, true],
      ],
    ],
    ['tool a && echo done', 3, [['tool a', 3, true]]],
    ['cd x && tool a', 1, [['tool a', 1, true]]],
    ['tool a || true', 0, [['tool a', null, false]]],
    ['tool a || exit 1', 0, [['tool a', 0, false]]],
    ['tool a || exit 1', 1, [['tool a', 1, true]]],
    ['watch tool a', 1, [['tool a', null, false]]],
    ["bash -eo pipefail -c 'tool a | cat'", 0, [['tool a', 0, false]]],
    ['(set -o pipefail); tool a | cat', 0, [['tool a', null, false]]],
    [
      'tool a || tool b',
      0,
      [
        ['tool a', null, false],
        ['tool b', null, false],
      ],
    ],
    [
      'tool a || tool b',
      3,
      [
        ['tool a', 1, true],
        ['tool b', 3, false],
      ],
    ],
    [
      'tool a && tool b || tool c',
      3,
      [
        ['tool a', null, false],
        ['tool b', 1, true],
        ['tool c', 3, false],
      ],
    ],
    [
      'tool a || tool b && tool c',
      0,
      [
        ['tool a', null, false],
        ['tool b', null, false],
        ['tool c', 0, false],
      ],
    ],
    ['! tool a', 0, [['tool a', 1, true]]],
    ['! tool a', 1, [['tool a', 0, false]]],
    [
      'tool a | tool b',
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, false],
      ],
    ],
    [
      'set -o pipefail; tool a | tool b',
      0,
      [
        ['tool a', 0, false],
        ['tool b', 0, false],
      ],
    ],
    [
      'set -o pipefail; tool a | tool b',
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, true],
      ],
    ],
    ['tool a &', 0, [['tool a', null, false]]],
    ['echo $(tool a)', 0, [['tool a', null, false]]],
    ['N=$(tool a)', 3, [['tool a', 3, false]]],
    ['N="x$(tool a)"', 3, [['tool a', null, false]]],
    ['if true; then tool a; fi', 3, [['tool a', null, false]]],
    ['for i in 1 2; do tool a; done', 3, [['tool a', null, false]]],
    [
      '(tool a; tool b)',
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, false],
      ],
    ],
    [
      "bash -lc 'tool a; tool b'",
      3,
      [
        ['tool a', null, false],
        ['tool b', 3, false],
      ],
    ],
    ['timeout 5 tool a', 124, [['tool a', 124, false]]],
    ['ls | xargs tool a', 123, [['tool a', 1, true]]],
    ['find . -exec tool a {} +', 0, [['tool a {}', null, false]]],
    ['tool a; echo done', 0, [['tool a', null, false]]],
  ])('%s ending with %d', async (command, exitCode, expected) => {
    const found = await find(command, exitCode)
    expect(found.map((each) => [each.command, each.exitCode, each.approximate])).toEqual(expected)
  })

  test('an error without a code is a failure with an approximate code', async () => {
    const { invocations } = await findInvocations(
      [{ tool: 'Bash', ts: 0, command: 'tool a', isError: true }],
      tool,
    )
    expect(invocations).toMatchObject([{ exitCode: 1, approximate: true }])
  })

  test('a known code overrides the error flag, and without either the end is unknown', async () => {
    const { invocations } = await findInvocations(
      [
        { ...use('tool a', 0), isError: true },
        { tool: 'Bash', ts: 0, command: 'tool b', isError: false },
      ],
      tool,
    )
    expect(invocations.map(({ exitCode }) => exitCode)).toEqual([0, null])
  })
})

describe('subcommand and help', () => {
  test.each<[string, string | null, boolean]>([
    ['tool add milk', 'add', false],
    ['tool --verbose add', 'add', false],
    ['tool', null, false],
    ['tool --help', null, true],
    ['tool add --help', 'add', true],
    ['tool add -h', 'add', true],
    ['tool help add', 'help', true],
    ['tool -h localhost db', 'localhost', false],
    ['tool add "--help me"', 'add', false],
    ['tool add -- --help', 'add', false],
  ])('%s', async (command, subcommand, help) => {
    expect(await find(command)).toMatchObject([{ subcommand, help }])
  })
})

describe('command_pattern', () => {
  test('takes the subcommand from group 1, and without a group only counts totals', async () => {
    expect(
      await find('tool -q add x', 0, { ...tool, command_pattern: 'tool\\s+-q\\s+(\\S+)' }),
    ).toMatchObject([{ subcommand: 'add', command: 'tool -q add x' }])
    expect(await find('tool add x', 0, { ...tool, command_pattern: '^tool\\s' })).toMatchObject([
      { subcommand: null },
    ])
  })

  test('is used instead of the name of the binary', async () => {
    expect(await find('tool add; other add', 0, { ...tool, command_pattern: '^other (\\S+)' })).toMatchObject(
      [{ command: 'other add' }],
    )
  })

  test('finds a command inside its wrappers, and a wrapper by its own text', async () => {
    const anchored = { ...tool, command_pattern: '^tool\\s+(\\S+)' }
    expect(await find('cd x && X=1 sudo tool add', 0, anchored)).toMatchObject([{ subcommand: 'add' }])
    expect(await find("bash -lc 'tool a && tool b'", 0, anchored)).toHaveLength(2)
    expect(
      await find('docker run tool add', 0, { ...tool, command_pattern: 'docker run tool (\\S+)' }),
    ).toHaveLength(1)
  })

  test('does not count a command that only mentions the tool', async () => {
    const loose = { ...tool, command_pattern: 'tool\\s+(\\S+)' }
    expect(await find('echo "tool add"; grep "tool list" docs; git commit -m "tool add"', 0, loose)).toEqual(
      [],
    )
    expect(await find(`bash -c 'echo "tool add"'`, 0, loose)).toEqual([])
    expect(await find('git status', 0, { binary: 'git', command_pattern: 'git (\\S+)' })).toHaveLength(1)
  })

  test.each(['', '   '])('counts as absent when it is %j', async (command_pattern) => {
    expect(await find('tool add', 0, { ...tool, command_pattern })).toHaveLength(1)
  })

  test('that is invalid finds nothing, reports it and does not crash', async () => {
    const found = await findInvocations([use('tool add', 0)], { ...tool, command_pattern: 'tool (' })
    expect(found.invocations).toEqual([])
    expect(found.notes.join()).toContain('missing closing )')
  })
})

test('hostile commands neither crash nor hang', async () => {
  for (const command of [
    `${'('.repeat(5_000)}tool a${')'.repeat(5_000)}`,
    'tool a && '.repeat(20_000),
    `${'tool a && '.repeat(20_000)}tool b`,
    `${'$('.repeat(500)}tool a${')'.repeat(500)}`,
    `tool ${'"'.repeat(100_001)}`,
    `tool add <<EOF\n${'x'.repeat(1_000_000)}`,
    "bash -c '".repeat(50),
    'tool \0\u001b[31m',
  ])
    await find(command, 1)
})

test('any text is accepted as a command', async () => {
  const piece = fc.constantFrom(
    'tool',
    ' ',
    'a',
    '&&',
    '||',
    '|',
    ';',
    '(',
    ')',
    '"',
    "'",
    '$(',
    '<<EOF',
    '\n',
    'bash -c ',
    '!',
    '{',
    '}',
    'if ',
    '&',
    '\\',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 25 }), async (pieces) => {
      for (const { exitCode } of await find(pieces.join(''), 3)) expect([0, 1, 3, null]).toContain(exitCode)
    }),
    { numRuns: 500 },
  )
})

async function find(command: string, exitCode = 0, target = tool): Promise<readonly TargetInvocation[]> {
  return (await findInvocations([use(command, exitCode)], target)).invocations
}

function use(command: string, exitCode: number): ToolUse {
  return { tool: 'Bash', ts: 0, command, output: '', exitCode }
}

describe('findTranscriptInvocations', () => {
  test('finds lines that begin with the binary, with or without a prompt', () => {
    expect(
      findInText(
        '$ tool add milk\nok\n> tool list\n  ./tool done 1\ntool --help\nI used tool add\nmytool x',
      ).map(commandText),
    ).toEqual(['tool add milk', 'tool list', './tool done 1', 'tool --help'])
  })

  test('finds the subcommand and help', () => {
    expect(findInText('$ tool add --help')).toMatchObject([{ subcommand: 'add', help: true }])
  })

  test('ignores colours, carriage returns and the path of the binary', () => {
    const text = '\u001b[32m$ \u001b[1mtool\u001b[0m   add milk\u001b[0m\r\nexit code 2\r\n'
    expect(findInText(text, { binary: './bin/tool' })).toMatchObject([
      { command: 'tool add milk', exitCode: 2 },
    ])
  })

  test.each([
    ['exit code 3', 3],
    ['Exit status: 4', 4],
    ['process exited with code 5', 5],
    ['exited with status=127', 127],
    ['error: exit code: -1', -1],
    ['exit code 0', 0],
  ])('takes the exit code from "%s"', (line, exitCode) => {
    expect(findInText(`$ tool add\nsome output\n${line}\n`)).toMatchObject([{ exitCode, approximate: true }])
  })

  test('an error word alone is not an exit code', () => {
    expect(findInText('$ tool add\nerror: failed, non-zero')).toMatchObject([
      { exitCode: null, approximate: false },
    ])
  })

  test('never gives one command the exit code of the next', () => {
    expect(findInText('$ tool a\n$ tool b\nexit code 2\n$ tool c').map(exitCodeOf)).toEqual([null, 2, null])
  })

  test('the first phrase after a command counts, and one before any command is ignored', () => {
    expect(findInText('exit code 9\n$ tool a\nexit code 1\nexit code 2').map(exitCodeOf)).toEqual([1])
  })

  test.each(['tool error: no such task', 'tool exit code 2', 'tool failed', 'tool Error'])(
    'skips the status line "%s"',
    (line) => {
      expect(findInText(line)).toEqual([])
    },
  )

  test('a pattern decides which lines are commands and sets the subcommand', () => {
    const target = { binary: 'tool', command_pattern: 'run: tool\\s+(\\S+)' }
    expect(findInText('> run: tool add  x\ntool list', target)).toMatchObject([
      { command: 'run: tool add x', subcommand: 'add' },
    ])
    expect(findInText('run: tool error', target)).toEqual([])
    expect(findInText('tool add x', { binary: 'tool', command_pattern: 'tool' })).toMatchObject([
      { subcommand: null },
    ])
  })

  test('a blank pattern is ignored, an invalid one finds nothing and is reported', () => {
    expect(findInText('tool add', { binary: 'tool', command_pattern: ' ' })).toHaveLength(1)
    const bad = findTranscriptInvocations('tool add', { binary: 'tool', command_pattern: '(' })
    expect(bad.invocations).toEqual([])
    expect(bad.notes).toHaveLength(1)
  })

  test('a binary with special characters is matched literally', () => {
    expect(findInText('$ c++filt add\n$ cccfilt add', { binary: 'c++filt' })).toHaveLength(1)
  })

  test('hostile text does not hang it', () => {
    findInText(`tool a\nexit code${' '.repeat(200_000)}\n${'tool '.repeat(100_000)}\n${'/'.repeat(200_000)}`)
  })
})

test('an exit code is never read beyond the next command', () => {
  const line = fc.constantFrom('$ tool a', '$ tool b x', 'output', 'exit code 1', 'exit status 0', '')
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const found = findInText(lines.join('\n'))
      const blocks = lines.join('\n').split('$ tool').slice(1)
      expect(found).toHaveLength(blocks.length)
      for (const [index, { exitCode }] of found.entries())
        expect(exitCode !== null).toBe(/exit (code|status)/.test(blocks[index] ?? ''))
    }),
  )
})

function findInText(
  text: string,
  target: Parameters<typeof findTranscriptInvocations>[1] = { binary: 'tool' },
): readonly TargetInvocation[] {
  return findTranscriptInvocations(text, target).invocations
}

function commandText({ command }: TargetInvocation): string {
  return command
}

function exitCodeOf({ exitCode }: TargetInvocation): number | null {
  return exitCode
}

describe('recorded calls', () => {
  const call = (exitCode: number | null, ...args: string[]) => ({ args, exitCode })
  const read = async (
    calls: readonly { args: string[]; exitCode: number | null }[],
    commands: readonly string[] = [],
    target: TargetTool = tool,
  ) => {
    const uses = commands.map((command): ToolUse => ({ tool: 'Bash', command, ts: 0, exitCode: 0 }))
    const { invocations } = await findInvocations(uses, target)
    return recordedInvocations(calls, target, invocations, (program) => program.includes('/'))
  }

  test('are uses with their own exit codes, whatever the line around them ended with', async () => {
    expect(
      await read([call(3, 'fail'), call(0, 'add', 'two words')], ['tool fail | cat; tool add "two words"']),
    ).toEqual([
      { command: 'tool fail', subcommand: 'fail', help: false, exitCode: 3, approximate: false },
      { command: 'tool add "two words"', subcommand: 'add', help: false, exitCode: 0, approximate: false },
    ])
  })

  test('of a loop are all counted', async () => {
    const found = await read(
      [call(0, 'add', '1'), call(0, 'add', '2')],
      ['for n in 1 2; do tool add $n; done'],
    )
    expect(found.map(({ command }) => command)).toEqual(['tool add 1', 'tool add 2'])
  })

  test('with different input are different where the agent shows it', async () => {
    const lines = ['tool add <<EOF\none\nEOF', 'tool add <<EOF\ntwo\nEOF']
    const found = await read([call(0, 'add'), call(0, 'add')], lines)
    expect(new Set(found.map(({ command }) => command)).size).toBe(2)
    expect(new Set((await read([call(0, 'add'), call(0, 'add')])).map(({ command }) => command)).size).toBe(1)
  })

  test('are joined by reported uses of another path, which no record can show', async () => {
    const found = await read(
      [call(0, 'add', 'a')],
      ['tool add a', '/opt/bin/tool list', "'/my tools/tool' x"],
    )
    expect(found.map(({ command }) => command)).toEqual([
      'tool add a',
      '/opt/bin/tool list',
      "'/my tools/tool' x",
    ])
  })

  test('count only when they match command_pattern, whose group is the subcommand', async () => {
    const target = { binary: './bin/tool', command_pattern: 'tool\\s+note\\s+(\\S+)' }
    expect(await read([call(0, 'note', 'add'), call(1, '--version')], [], target)).toMatchObject([
      { command: 'tool note add', subcommand: 'add' },
    ])
    const exact = { binary: './bin/tool', command_pattern: '^\\./bin/tool (\\w+)' }
    expect(await read([call(0, 'add')], [], exact)).toMatchObject([{ subcommand: 'add' }])
  })

  test('ask for help like written ones, and without any there is nothing to say', async () => {
    expect(await read([call(0, 'add', '--help'), call(0, 'help')])).toMatchObject([
      { help: true },
      { help: true },
    ])
    expect(await read([], ['tool add'])).toEqual([])
  })
})
