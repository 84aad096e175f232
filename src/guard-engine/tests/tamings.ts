import { anyOf } from '../../core/any-of.ts'
import { shorten } from '../../core/shorten.ts'
import { isTestFile } from './test-files.ts'

/** Where a program usually ends by itself. */
const entryPoints =
  /(?:^|\/)(?:bin|cli|cmd|scripts?|tools?|examples?)\/|(?:^|\/)(?:cli|main|__main__|bin|server|run)\.\w+$|(?:^|\/)manage\.py$/
const sources = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|pm|(?:ba)?sh)$/
/** Cargo runs it before the tests, and tells it where it is by variables. */
const buildScript = /(?:^|\/)build\.rs$/
/** Where a program may ask what it runs in. */
const settings = /(?:^|\/)[^/]*(?:config|settings?|setup|conftest|env)[^/]*$/i

/** Plugins of pytest in a project that offers them, and what is judged with the definition of a check. */
const plugins = /(?:^|\/)conftest\.py$|pytest[_-]/

const ending = anyOf([
  // JavaScript.
  /\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)/,
  /\bprocess\.exitCode\s*=\s*0/,
  /\bDeno\.exit\(\s*0?\s*\)/,
  // Python.
  /\bos\._exit\(\s*0\s*\)/,
  /\bsys\.exit\(\s*(?:0|None)?\s*\)/,
  /\braise SystemExit(?:\(\s*(?:0|None)?\s*\))?\s*$/,
  // Rust, Go, Java, C.
  /\bprocess::exit\(\s*0\s*\)/,
  /\b(?:os|syscall)\.Exit\(\s*0\s*\)/,
  /\b(?:System\.exit|halt)\(\s*0\s*\)/,
  /\b_?_?[eE]xit\(\s*(?:0|EXIT_SUCCESS)\s*\)/,
  /\bsyscall\(\s*(?:SYS|__NR)_exit(?:_group)?\b/,
  // Another program in place of the run, or a run that is killed or loses its failures.
  /^(?:os\.exec\w+|process\.execve)\(/,
  /\b(?:os\.exec\w+|process\.execve)\(\s*['"](?:\/\w+)*\/?(?:true|echo|printf|cat)['"]/,
  /\bprocess\.kill\(\s*process\.pid/,
  /\bprocess\.(?:on|once|prependListener)\(\s*['"](?:uncaughtException|unhandledRejection|exit|beforeExit)['"]/,
])
/** In C, also by a variable: programs end in `main`. */
const endingC = /(?<!->|\.)\b_?_?[eE]xit\((?!\s*(?:\)|EXIT_FAILURE|-?[1-9]))/
const replacing = anyOf([
  /(?<!\b(?:const|let|var|import)\s)\b(?:assert|expect|Test(?:Case|Result|Suite|Loader)|unittest|pytest|_pytest|chai)\b(?:\.\w+|\[[^\]]{1,100}\]){1,20}\s*=(?![=>])/,
  /\b(?:(?:Object|Reflect)\.(?:assign|set|define\w+)|mock\.(?:method|getter|fn)|spyOn|stub)\(\s*(?:assert|expect|chai)\b/,
  /^\s*#\s*(?:define|undef)\s+(?:assert|ASSERT|NDEBUG|main|if|return|exit|abort|\w+cmp)\b/,
  /^\s*(?:[\w*]+\s+)+(?:__assert(?:_fail|_func|_rtn|_fail_base)?|abort)\s*\([^;]*$/,
  /\bexpect\.extend\(\s*\{.{0,200}\bto(?:Be|Equal|StrictEqual|Throw|Contain|Match)\b\s*[:(]/,
  /^\s*\*(?:main|Test::\w+)(?:::\w+)?\s*=/,
  /\bsetattr\(\s*(?:unittest|pytest|TestCase)\b/,
  /\bsys\.modules\[\s*['"](?:pytest|unittest)/,
  /\bmacro_rules!\s*(?:debug_)?(?:assert\w*|panic)\b/,
  /^\s*def pytest_(?:sessionfinish|collection_modifyitems|runtest_\w+|report_teststatus|pyfunc_call|ignore_collect|cmdline_main)\b/,
])
/** What is asked for and how is close together: a line of a packed file has thousands of names. */
const asking = anyOf([
  // Variables and modules of the runners.
  /\bNODE_TEST_CONTEXT\b/,
  /\bJEST_WORKER_ID\b/,
  /\bPYTEST_(?:CURRENT_TEST|VERSION)\b/,
  /\bVITEST(?:_WORKER_ID|_POOL_ID)?\b/,
  /\bHARNESS_ACTIVE\b/,
  /['"]_?(?:pytest|unittest)['"]\s+in\s+(?:\w+\()?(?:sys\.)?modules\b/,
  /\bmodules(?:\.get\(|\[)\s*['"]_?(?:pytest|unittest)\b/,
  /["'](?:PYTEST?|VITEST?|JEST|NODE_T(?:E(?:ST?)?)?)_?["']\)/,
  // How the process was started.
  /\/cmdline\b/,
  /\bnpm_(?:lifecycle_event|command)\b/,
  /\bprocess\.argv\b.{0,80}\.includes\(\s*['"](?:--)?test\b/,
  /\bprocess\.execArgv\b.{0,200}--test/,
  /\b(?:process|sys)\.argv\b.{0,200}\.(?:test|spec)\b(?!\()/,
  // Go and Rust.
  /\btesting\.Testing\(\)/,
  /\bflag\.Lookup\("test\./,
  /\bos\.Args\[0\].{0,200}\.test"/,
  /\bcfg!\(test\)/,
  /\bcfg_attr\((?:not\()?test\b[^\]]*\bpath\b/,
  /\benv::var(?:_os)?\("CARGO_(?:MANIFEST_DIR|PRIMARY_PACKAGE)"\)/,
  /\bthread::current\(\)\.name\(\).{0,200}test/,
  /\b(?:args(?:_os)?|current_exe)\(\).{0,200}"[^"]*\bdeps\b/,
  // Who calls.
  /\b(?:co_(?:file)?name|_getframe|inspect\.(?:stack|currentframe)|traceback\.\w+_stack)\b.{0,200}["']_?(?:py)?test/,
  /["']_?(?:py)?test.{0,200}\b(?:_getframe|inspect\.(?:stack|currentframe)|traceback\.\w+_stack)\b/,
  /(?:\bprocess\.argv\[1\]|\brequire\.main\b|\bmodule\.parent\b).{0,200}(?:['"`/][^'"`]{0,40}test|\.(?:test|spec)\b(?!\())/,
  /(?:['"`/][^'"`]{0,40}test|\.(?:test|spec)\b)[^\n]{0,100}(?:\bprocess\.argv\[1\]|\brequire\.main\b|\bmodule\.parent\b)/,
  /\.stack\b.{0,200}\.(?:test|spec)\b(?!\()/,
  // Vitest.
  /\bimport\.meta\.vitest\s*(?:\?(?!\.)|\|\||&&)/,
  /\b__vitest_\w+/,
  /\bglobalThis\b.{0,200}\b__vite/,
])
/** One behaviour in the tests, which are a debug build, and another one in a release. */
const debugOnly =
  /\bif cfg!\((?:not\()?debug_assertions\)+[^}]{0,200}\}\s*else\b|#\[cfg\((?:not\()?debug_assertions\)+\]\s*(?:pub(?:\([\w:]+\))? )?fn (\w+)\b[\s\S]{0,800}#\[cfg\((?:not\()?debug_assertions\)+\]\s*(?:pub(?:\([\w:]+\))? )?fn \1\b/
/** Equal to every expected value. The head of the method may be a line above. */
const equalling =
  /(?:\bdef (?:__eq__|==)|\bfn eq\b|\bboolean equals\(|\boperator\s*==)[^\n]{0,200}(?:[\n{:;]|\)\s?=)[\s{]{0,40}(?:return\s+)?(?:true\b|isinstance\((?:[^()\n]|\([^()\n]*\)){0,100}\)\s*$)|['"]__eq__['"]\s*:\s*lambda\b[^:\n]{0,100}:\s*True\b/i
/** In Python, where a reader of UTF-8 does not see what is run. */
const hiding = /^[ \t\f]*#.{0,100}coding[:=][ \t]*(?:utf[-_]?7|rot[-_]?13|\w*[-_]escape|punycode|idna)\b/i
/** In Python, at the top of a file. */
const replacingModule = /^sys\.modules\[\s*['"](\w+)['"]\s*\]\s*=|^(\w+)\.\w+\s*=\s*lambda\b/
/** Only tests need these. */
const frameworks =
  /^\s*(?:from|import)\s+(?:unittest|pytest|_pytest)\b|(?:from|require\()\s*['"](?:node:test|vitest|@jest\/globals|sinon)['"]/
const supports = /test|spec|mock|fixture|jest|bench|setup/i

/** Names that a source gives the assertions of Node. */
const assertModule = /['"](?:node:)?assert(?:\/strict)?['"]/
const assertCall = new RegExp(`\\b[\\w.()]{1,100}\\(\\s*${assertModule.source}\\s*\\)`)
const assertNames = new RegExp(
  `import\\s+(?:\\*\\s*as\\s+)?(\\w+)\\s+from\\s*${assertModule.source}|\\b(\\w+)\\s?=[^=]{1,100}\\(\\s*${assertModule.source}\\s*\\)`,
)

/** Also by names that honest programs look at, so only with an end beside it. */
const askingNear =
  /NODE_ENV['"\]]*\s*===?\s*['"]test\b|(?:process\.argv|sys\.argv|sys\.modules|execArgv).{0,200}test/

/**
 * What lines that a source gained do to the tests that load it: they decide how the run ends, change the assertions, or behave in another
 * way when they are tested. With `isSure`, an end counts only where every run reaches it, or after a question about the tests. `isPlugin`:
 * the project may be a plugin of pytest.
 */
export function tamings(
  path: string,
  added: readonly string[],
  all: readonly string[],
  { isSure = false, isPlugin = true, isOwnModule = (_name: string): boolean => false } = {},
): readonly string[] {
  // A header as those of C++ has no ending, such as `iostream`.
  const isHeader = !/\.[^/]*$/.test(path) && all.some((line) => /^\s*#\s*(?:include|pragma)/.test(line))
  if (!(sources.test(path) || isHeader) || buildScript.test(path)) return []
  const isTest = isTestFile(path)
  const isEntry = entryPoints.test(path) || all.some((line) => /^#!|^if __name__ ==/.test(line))
  const isC = isHeader || /\.(?:c|cc|cpp|h|hpp)$/.test(path)
  const aliases = all.flatMap((line) => assertNames.exec(line)?.slice(1).filter(Boolean) ?? [])
  const alias = aliases.length === 0 ? null : new RegExp(`\\b(?:${aliases.join('|')})\\b`, 'g')
  const codeOf = (line: string): string =>
    line.replace(isC ? /(?:^|\s)\/\/.*$/ : /(?:^|\s)(?:\/\/|#(?!\[)).*$/, '')
  const isDebug = !isTest && added.some((line) => line.includes('debug_assertions'))
  const debug = isDebug ? debugOnly.exec(all.join('\n')) : null
  const whole = debug === null ? [] : [`behaves in another way when it is tested: ${shorten(debug[0], 100)}`]
  const found = added.flatMap((line, at) => {
    const code = codeOf(line)
    const say = (what: string): readonly string[] => [`${what}: ${shorten(code.trim(), 100)}`]
    if (path.endsWith('.py') && hiding.test(line))
      return [`has an encoding that hides its code: ${shorten(line.trim(), 100)}`]
    const isHook = plugins.test(path) && (isPlugin || path.endsWith('conftest.py'))
    const named = code.replace(assertCall, 'assert')
    const plain = alias === null ? named : named.replace(alias, 'assert')
    if ([code, plain].some((each) => replacing.test(each)) && !(isTest && !isSure) && !isHook)
      return say('changes the assertions of the tests')
    if (isTest) return []
    const [, one, two] = (path.endsWith('.py') && replacingModule.exec(code)) || []
    if (isOwnModule(one ?? two ?? '')) return say('replaces code of the project')
    if (!isSure && !supports.test(path) && frameworks.test(code))
      return say('loads what tests are written with')
    const before = added.slice(Math.max(0, at - 2), at + 1).map(codeOf)
    const isAsked = before.some((each) => asking.test(each) || (askingNear.test(each) && !isEntry))
    if (equalling.test(before.slice(-2).join('\n'))) return say('is equal to every expected value')
    const isReached = /^\S/.test(code) && !/=>|\bfunction\b|^if\b|\.on/.test(code)
    if (isC && !isSure && !isEntry && endingC.test(code)) return say('decides how the test run ends')
    if (ending.test(code) && (isSure ? isAsked || (isReached && !isEntry) : !isEntry))
      return say('decides how the test run ends')
    return asking.test(code) && !(isSure && (settings.test(path) || !decides.test(code)))
      ? say('behaves in another way when it is tested')
      : []
  })
  return [...whole, ...found]
}

/** A condition, not merely a name with a number of the worker in it. */
const decides =
  /\b(?:if|unless|in|match|case|when)\b|(?<!\?)\?(?![?.])|&&|\|\||[!=]=|\.(?:includes|get|some|read\w*)\(/
