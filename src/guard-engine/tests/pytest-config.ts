import { anyOf } from '../../core/any-of.ts'
import { captures } from '../../core/captures.ts'
import { readOptions } from '../evidence/coverage/read-options.ts'
import { runnerOptions } from '../evidence/coverage/runner-options.ts'

/**
 * What a section of pytest's settings says about which tests run and when they fail; null when it says nothing about it. Markers, log
 * settings and options that only change the look do not count.
 */
export function pytestSettings(section: string | null): string | null {
  if (section === null) return null
  const found = settingsIn(section).flatMap(([key, value]) => {
    const words = wordsOf(value)
    switch (key) {
      case 'addopts': {
        const options = runnerOptions().pytest
        const read = options === undefined ? null : readOptions(words, options)
        const changes = read === null ? words : [...read.less, ...read.unknown, ...read.operands]
        return changes.length === 0 ? [] : [`addopts ${changes.join(' ')}`]
      }
      case 'testpaths':
        return words.some((word) => /^(?:\.\/?)?(?:tests?\/?)?$/.test(word))
          ? []
          : [`${key} ${words.join(' ')}`]
      case 'python_files':
        return words.includes('test_*.py') ? [] : [`${key} ${words.join(' ')}`]
      case 'python_classes':
        return words.includes('Test') || words.includes('Test*') ? [] : [`${key} ${words.join(' ')}`]
      case 'python_functions':
        return words.some((word) => /^test(?:_?\*?)?$/.test(word)) ? [] : [`${key} ${words.join(' ')}`]
      case 'pythonpath':
        // What is in front hides modules of the project with the same name.
        return words.length > 1 && /^(?:\.\/)?(?:tests?|build|dist|out|target|tmp)\/?$/.test(words[0] ?? '')
          ? [`${key} ${words.join(' ')}`]
          : []
      case 'norecursedirs':
      case 'collect_ignore':
      case 'collect_ignore_glob':
      case 'usefixtures':
        return [`${key} ${words.join(' ')}`]
      default:
        return []
    }
  })
  return found.length === 0 ? null : found.toSorted().join('\n')
}

/** `key = value`, with the lines that continue it: indented ones, and those of a list or of a long string. */
function settingsIn(section: string): readonly (readonly [string, string])[] {
  const settings: [string, string][] = []
  for (const line of section.split('\n')) {
    if (/^\s*(?:[#;[]|$)/.test(line) && !/^\s*\]/.test(line)) continue
    const [, key, value = ''] = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line) ?? []
    const last = settings.at(-1)
    if (key !== undefined) settings.push([key, value])
    else if (last !== undefined) last[1] += ` ${line}`
  }
  return settings
}

function wordsOf(value: string): readonly string[] {
  // In a list every string is a word; elsewhere quotes enclose several.
  const text = value.trim()
  if (text.startsWith('[')) return [...text.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, a, b]) => a ?? b ?? '')
  const inside = text.replaceAll(/^("""|'''|"|')|("""|'''|"|')$/g, '')
  return [...inside.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
}

/** The whole text of a conftest.py that can leave tests out or change how they end; null for fixtures and plain set-up. */
export function decidingConftest(text: string): string | null {
  const code = text.replaceAll(/^[ \t]*#.*$/gm, '')
  const functions = new Set(captures(code, /^def (\w+)\(/gm))
  const isOwn = captures(code, /^\w+(?:\.\w+)+\s*=\s*(\w+)[ \t]*$/gm).some((name) => functions.has(name))
  return isOwn || deciding.test(code) || replacesByItself.test(code) ? text : null
}

/** A fixture that every test has, and that replaces something else than what Python and clients of the network offer. */
const replacesByItself =
  /\bautouse\s*=\s*True\b[\s\S]{0,4000}?\b(?:setattr|patch(?:\.object)?)\s*\(\s*(?!["']?(?:time|os|random|socket|requests|httpx|urllib\w*|datetime|subprocess|pathlib|tempfile|logging|uuid|smtplib|getpass|secrets|platform|shutil|webbrowser|sys\.(?:argv|std\w+|platform))\b)/

const deciding = anyOf(
  [
    /\bpytest_(?!addoption\b|configure\b|plugins\b|generate_tests\b|asyncio|report_header\b|html_|itemcollected\b|fixture\w*\b|make_parametrize_id\b)\w+/,
    /\bpytest_plugins\b/,
    /\bcollect_ignore/,
    /\bexitstatus\b/,
    /\b_?exit\s*\(/,
    /\bshould(?:stop|fail)\b/,
    /\bdeselect/,
    /\badd_marker\b/,
    /\.testsfailed\b/,
    /\bconfig\.(?!addinivalue_line|getoption|getini)\w+/,
    /\b__(?:import|builtins)__/,
    /\b(?:eval|exec)\s*\(/,
    /\b(?:_pytest|unittest\.TestCase\.\w+ *=|assertion)\b/,
    /\bpytest\.\w+\s*=/,
    /\bpytest\.(?:skip|xfail|importorskip)\(/,
    /^\w+(?:\.\w+)+\s*=\s*(?:lambda\b|(?:\w+\.)?(?:Magic)?Mock\()/,
  ],
  'm',
)
