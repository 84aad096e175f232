import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExamples } from './agents/agent-component.ts'
import { hintArguments, readHint } from './commands/command-component.ts'
import { parseJsonFile } from './files/json-file.ts'
import { isRootUnquoted, pluginReferences, startedByRelativePath } from './files/plugin-references.ts'
import { toolsField } from './frontmatter/read-markdown.ts'
import { contentWords, findOverlaps } from './overlap/note-overlaps.ts'
import { intentOf } from './skills/skill-component.ts'
import { triggerPhrases } from './trigger-phrases.ts'

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
    expect(triggerPhrases(description).wanted).toEqual(phrases)
  })

  test.each([
    ['Ships code. Do NOT use when the user says "just do it".', [], ['just do it']],
    [
      'Use when the user says "ship it". Don\'t use for "a draft" or "a plan".',
      ['ship it'],
      ['a draft', 'a plan'],
    ],
    ['Use when the user says "ship it", not when they say "plan it".', ['ship it'], ['plan it']],
    [
      'DO NOT TRIGGER when: the user mentions "openai". Use when the user says "claude api".',
      ['claude api'],
      ['openai'],
    ],
    ['Not for small talk, e.g. "hello there".', [], ['hello there']],
    ['This skill should not be used if the user asks to "explain it".', [], ['explain it']],
    [
      'Never invoke it when the user says "only look."  Use when they say "change it".',
      ['change it'],
      ['only look.'],
    ],
    ['Do not use:\n- "read mail"\nUse when the user says:\n- "write mail"', ['write mail'], ['read mail']],
    ['Use for charts unless the user says "as text".', [], ['as text']],
    ['Do not use unless the user says "deploy now".', ['deploy now'], []],
    ['Not only for "big reports" but also for "small notes".', ['big reports', 'small notes'], []],
    ['Use it for "charts", even if they do not ask for a "dashboard".', ['charts', 'dashboard'], []],
    ['Do not use for reviews, but use when the user says "fix it".', ['fix it'], []],
    ['Avoid when the user wants to "move fast".', [], ['move fast']],
    ['NOT for "one-off scripts"; use for "long services".', ['long services'], ['one-off scripts']],
    ['Use when the user asks why tests do not pass, or says "debug it".', ['debug it'], []],
    ['Use when CI is not green and the user says "find the cause".', ['find the cause'], []],
    ['Use for "plans"; skip if the user says "plans".', ['plans'], []],
    ['Do not hesitate to use this skill when the user says "ship it".', ['ship it'], []],
    ['Never skip this skill when the user says "ship it".', ['ship it'], []],
    ['Don\'t forget to use it when they say "ship it".', ['ship it'], []],
    ['Use when the user says "ship it" (not "plan it") or "send it".', ['ship it', 'send it'], ['plan it']],
    [
      'Use for "big reports" (not for "small notes") or "long letters".',
      ['big reports', 'long letters'],
      ['small notes'],
    ],
    ['Not for drafts (short ones) or when the user says "plan it".', [], ['plan it']],
    ['Use when the user says "ship it" rather than "plan it".', ['ship it'], ['plan it']],
    ['Instead of "a plan" or "a draft", use when they say "ship it".', ['ship it'], ['a plan', 'a draft']],
    ['Use when the user says "ship it". Exceptions: "plan it".', ['ship it'], ['plan it']],
    ['Do not use for "a draft". Exception: the user says "now".', ['now'], ['a draft']],
    ['Use when the user says "ship it". Excludes: "a draft", "a plan".', ['ship it'], ['a draft', 'a plan']],
    ['Use when the user does not know how to "ship it".', ['ship it'], []],
  ])('negation in %j', (description, wanted, unwanted) => {
    expect(triggerPhrases(description)).toEqual({ wanted, unwanted })
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
    expect(parseExamples(text)).toEqual({ examples: [greeting], withoutUser: 0 })
  })

  test('a block without a user line is skipped and counted', () => {
    const text = 'a\nb\n<example>\nContext: c\nassistant: "x"\n</example>\n<example>\nuser: "y"\n</example>\n'
    const { examples, withoutUser } = parseExamples(text)
    expect([examples.map(({ user_message }) => user_message), withoutUser]).toEqual([['y'], 1])
  })

  test('a user may have a name', () => {
    const { examples } = parseExamples(
      '<example>\nContext: c\nDaisy: "check it"\nAssistant: "yes"\n</example>',
    )
    expect(examples.map(({ user_message, expected_response }) => [user_message, expected_response])).toEqual([
      ['check it', 'yes'],
    ])
  })

  test('thousands of unclosed blocks are parsed quickly', () => {
    expect(parseExamples('<example>'.repeat(20_000)).withoutUser).toBe(20_000)
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
})

test.each([
  ['python3 ./hooks/x.py a/b.json', ['hooks/x.py']],
  ['./hooks/x.sh && node --test lib/z.js', ['hooks/x.sh', 'lib/z.js']],
  ['node run.js scripts/a.js', []],
  ['node "${CLAUDE_PLUGIN_ROOT}/run.js" scripts/a.js', []],
  ['cd "${CLAUDE_PLUGIN_ROOT}" && ./hooks/x.sh', []],
  ['/abs/y https://e.com/z a/b.sh', []],
])('of %j a relative path starts %j', (command, paths) => {
  expect(startedByRelativePath(command)).toEqual(paths)
})

test.each([
  ['${CLAUDE_PLUGIN_ROOT}/a.sh', true],
  ['bash $CLAUDE_PLUGIN_ROOT/a.sh', true],
  ['"${CLAUDE_PLUGIN_ROOT}/a.sh" x', false],
  ['"${CLAUDE_PLUGIN_ROOT}"/a.sh', false],
  ['echo \\"; ${CLAUDE_PLUGIN_ROOT}/a.sh', true],
  ['echo hi', false],
])('in %j the root is without quotes: %j', (command, isUnquoted) => {
  expect(isRootUnquoted(command)).toBe(isUnquoted)
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
