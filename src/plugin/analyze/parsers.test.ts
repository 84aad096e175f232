import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExamples } from './agents/parse-examples.ts'
import { hintArguments, readHint } from './commands/command-component.ts'
import { parseJsonFile } from './files/json-file.ts'
import { pluginReferences, relativeReferences } from './files/plugin-references.ts'
import { toolsField } from './frontmatter/fields.ts'
import { contentWords, findOverlaps } from './overlap/note-overlaps.ts'
import { intentOf, triggerPhrases } from './skills/skill-component.ts'

describe('trigger phrases', () => {
  test.each([
    [
      'This skill should be used when the user asks to "create a hook", "add a PreToolUse hook", or mentions "hook events".',
      ['create a hook', 'add a PreToolUse hook', 'hook events'],
    ],
    ['Use when the user wants to: "a", "b" and "c".', ['a', 'b', 'c']],
    ["The user says “hello there” or needs to 'greet people'.", ['hello there', 'greet people']],
    ["Don't use it for users' own files or the team's calendar.", []],
    ['Handles "PDF files" and "a" and "42 things".', ['PDF files']],
    ['Asks to "do it", then "do it" again; the user asks to "do it".', ['do it']],
    [
      `Mentions "${'x'.repeat(100)}" and "${'y'.repeat(51)}" elsewhere "${'z'.repeat(51)}".`,
      ['x'.repeat(100), 'y'.repeat(51)],
    ],
    ['A quote "that never ends', []],
    ['', []],
  ])('of %j', (description, phrases) => {
    expect(triggerPhrases(description)).toEqual(phrases)
  })
})

describe('intents', () => {
  test.each([
    ['create a new hook for validation', 'create', 'new hook', 'for validation'],
    ['please add the tests', 'add', 'tests', ''],
    ['review my code', 'review', 'code', ''],
    ['set up a database in Docker', 'set', 'database', 'in Docker'],
    ['', '', '', ''],
  ])('of %j', (phrase, action, object, context) => {
    expect(intentOf(phrase)).toEqual({ action, object, context, raw_phrase: phrase })
  })
})

describe('examples', () => {
  const greeting = {
    context: 'A visitor comes.',
    user_message: 'Hello, you',
    expected_response: 'I will use the greeter.',
    commentary: 'Greetings trigger it.',
  }
  test.each([
    [
      'as Claude Code writes them',
      '<example>\nContext: A visitor comes.\nuser: "Hello, you"\nassistant: "I will use the greeter."\n<commentary>\nGreetings trigger it.\n</commentary>\n</example>',
    ],
    [
      'folded into one line',
      'Text. <example> Context: A visitor comes. user: "Hello, you" assistant: "I will use the greeter." <commentary>Greetings trigger it.</commentary> </example>',
    ],
    [
      'with line breaks that YAML did not read',
      '<example>\\nContext: A visitor comes.\\nuser: "Hello, you"\\nassistant: "I will use the greeter."\\n<commentary>\\nGreetings trigger it.\\n</commentary>\\n</example>',
    ],
    [
      'with other labels',
      '<example>\n**Context**: A visitor\ncomes.\n**User:** Hello, you\n**Assistant:** "I will use the greeter."\nCommentary: Greetings trigger it.\n</example>',
    ],
    [
      'never closed',
      '<example>\nContext: A visitor comes.\nuser: "Hello, you"\nassistant: "I will use the greeter."\n<commentary>\nGreetings trigger it.\n</commentary>',
    ],
    [
      'with several turns',
      '<example>\nContext: A visitor comes.\nuser: "Hello, you"\nassistant: "I will use the greeter."\nuser: "Bye"\nassistant: "Bye"\n<commentary>Greetings trigger it.</commentary>\n</example>',
    ],
  ])('%s', (_, text) => {
    expect(parseExamples(text)).toEqual({ examples: [greeting], withoutUser: [] })
  })

  test('a block without a user line is skipped, and its line is reported', () => {
    const text = 'a\nb\n<example>\nContext: c\nassistant: "x"\n</example>\n<example>\nuser: "y"\n</example>\n'
    const { examples, withoutUser } = parseExamples(text)
    expect([examples.map(({ user_message }) => user_message), withoutUser]).toEqual([['y'], [3]])
  })

  test('thousands of unclosed blocks are parsed quickly', () => {
    expect(parseExamples('<example>'.repeat(20_000)).withoutUser.length).toBe(20_000)
  })
})

describe('argument hints', () => {
  test.each([
    ['[file] <name>', ['file', 'name']],
    ['<pr-number | branch> [--force]', ['pr-number | branch', '--force']],
    ['[--out <file>]', ['--out <file>']],
    ['no arguments', []],
    ['[] <>', []],
    [']]>[a', []],
  ])('of %j', (hint, names) => {
    expect(hintArguments(hint)).toEqual(names)
  })

  test('a hint that YAML reads as a list is read as brackets', () => {
    expect([readHint(['a', 'b']), readHint([]), readHint({ a: null }), readHint(5), readHint(' ')]).toEqual([
      '[a] [b]',
      null,
      null,
      '5',
      null,
    ])
  })
})

test('tools are separated by commas or blanks, but not in parentheses', () => {
  const tools = (value: unknown) => toolsField({ tools: value }, 'tools')
  expect(tools('Read, Bash(git add:*, git commit:*), Grep')).toEqual([
    'Read',
    'Bash(git add:*, git commit:*)',
    'Grep',
  ])
  expect(tools('Read Grep Bash(git *)')).toEqual(['Read', 'Grep', 'Bash(git *)'])
  expect(tools(['Read', 'Grep, Glob'])).toEqual(['Read', 'Grep', 'Glob'])
  expect([tools(5), tools(''), tools(null)]).toEqual([[], [], []])
})

test('files of the plugin are found in commands, however the root is quoted', () => {
  const paths = (words: string) => pluginReferences(words).map(({ path, isProgram }) => [path, isProgram])
  expect(paths(`"\${CLAUDE_PLUGIN_ROOT}/a".sh`)).toEqual([['a', true]])
  expect(paths('bash "$CLAUDE_PLUGIN_ROOT"/hooks/x.sh --y')).toEqual([['hooks/x.sh', false]])
  expect(relativeReferences('python3 ./hooks/x.py /abs/y https://e.com/z a/b.sh')).toEqual([
    'hooks/x.py',
    'a/b.sh',
  ])
})

describe('descriptions', () => {
  test('forms of a word are equal, and common words are ignored', () => {
    const stems = (text: string) => contentWords(text).map(({ stem }) => stem)
    expect(stems('Use this skill when the user asks to format dates')).toEqual(stems('formatting a date'))
    expect(stems('翻訳する')).toEqual(['翻訳', '訳す', 'する'])
  })

  test('the shared words of two descriptions are reported', () => {
    const [overlap] = findOverlaps(
      [
        { id: 'a', description: 'Converts invoices from PDF to a spreadsheet.' },
        { id: 'b', description: 'Convert an invoice (PDF) to spreadsheets for accounting.' },
        { id: 'c', description: 'Plays chess against the computer.' },
      ],
      () => true,
    )
    expect(overlap).toMatchObject({ ids: ['a', 'b'], shared: ['converts invoices pdf spreadsheet'] })
  })

  test('other plugins are compared with ours, not with each other', () => {
    const description = 'Converts invoices from PDF to a spreadsheet.'
    const all = ['own', 'x', 'y'].map((id) => ({ id, description }))
    expect(findOverlaps(all, (id) => id === 'own').map(({ ids }) => ids)).toEqual([
      ['own', 'x'],
      ['own', 'y'],
    ])
  })

  test('a hundred equal descriptions are not reported as thousands of pairs', () => {
    const all = Array.from({ length: 100 }, (_, id) => ({
      id: `${id}`,
      description: 'Draws charts of weather data.',
    }))
    expect(findOverlaps(all, () => true).length).toBe(100)
  })
})

test('JSON is read strictly, and knows its lines', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, null, 1)
      const parsed = parseJsonFile(text)
      if (parsed.kind === 'broken') throw new Error(parsed.text)
      expect(parsed.value).toEqual(JSON.parse(text))
    }),
  )
  const parsed = parseJsonFile('{\n "a": [\n  1,\n  {"b": 2}\n ]\n}')
  if (parsed.kind === 'broken') throw new Error(parsed.text)
  expect([
    parsed.lineOf([]),
    parsed.lineOf(['a']),
    parsed.lineOf(['a', 1]),
    parsed.lineOf(['a', 1, 'b']),
    parsed.lineOf(['x', 'y']),
  ]).toEqual([1, 2, 4, 4, 1])
})
