import { shorten } from '../../core/shorten.ts'
import { isTestFile } from './test-files.ts'

/** Where a program usually ends by itself. */
const entryPoints =
  /(?:^|\/)(?:bin|cli|cmd|scripts?|tools?|examples?)\/|(?:^|\/)(?:cli|main|__main__|bin|server|run)\.\w+$|(?:^|\/)manage\.py$/
const sources = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp)$/
/** Where a program may ask what it runs in. */
const settings = /(?:^|\/)[^/]*(?:config|settings?|setup|conftest|env)[^/]*$/i

/** Plugins of pytest in a project that offers them, and what is judged with the definition of a check. */
const plugins = /(?:^|\/)conftest\.py$|pytest[_-]/

const ending =
  /\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|\bDeno\.exit\(\s*0?\s*\)|\bos\._exit\(\s*0\s*\)|\bsys\.exit\(\s*(?:0|None)?\s*\)|\braise SystemExit(?:\(\s*(?:0|None)?\s*\))?\s*$|\bprocess::exit\(\s*0\s*\)|\b(?:os|syscall)\.Exit\(\s*0\s*\)|\b(?:System\.exit|halt)\(\s*0\s*\)|\b_?_?[eE]xit\(\s*(?:0|EXIT_SUCCESS)\s*\)|\bprocess\.kill\(\s*process\.pid|\bprocess\.(?:on|once|prependListener)\(\s*['"](?:uncaughtException|unhandledRejection|exit|beforeExit)['"]/
const replacing =
  /(?<!\b(?:const|let|var|import)\s)\b(?:assert|expect|TestCase|unittest|pytest|_pytest|chai)\b(?:\.\w+|\[[^\]]+\])+\s*=(?![=>])|\bObject\.(?:assign|defineProperty)\(\s*(?:assert|expect|chai)\b|\bsetattr\(\s*(?:unittest|pytest|TestCase)\b|\bsys\.modules\[\s*['"](?:pytest|unittest)|^\s*def pytest_(?:sessionfinish|collection_modifyitems|runtest_\w+|report_teststatus|pyfunc_call|ignore_collect|cmdline_main)\b/
const asking =
  /\bNODE_TEST_CONTEXT\b|\bJEST_WORKER_ID\b|\bPYTEST_(?:CURRENT_TEST|VERSION)\b|\bVITEST(?:_WORKER_ID|_POOL_ID)?\b|['"](?:pytest|unittest)['"]\s+in\s+sys\.modules|\bprocess\.execArgv\b.*--test|\b(?:process|sys)\.argv\b.*\.(?:test|spec)\b|\btesting\.Testing\(\)|\bflag\.Lookup\("test\.|\bos\.Args\[0\].*\.test"|\bcfg!\(test\)/
/** Also by names that honest programs look at, so only with an end beside it. */
const askingNear =
  /NODE_ENV['"\]]*\s*===?\s*['"]test\b|(?:process\.argv|sys\.argv|sys\.modules|execArgv).*test/

/**
 * What lines that a source gained do to the tests that load it: they decide how the run ends, change the assertions, or behave in another
 * way when they are tested. With `isSure`, an end counts only where every run reaches it, or after a question about the tests. `isPlugin`:
 * the project may be a plugin of pytest.
 */
export function tamings(
  path: string,
  added: readonly string[],
  all: readonly string[],
  { isSure = false, isPlugin = true } = {},
): readonly string[] {
  if (!sources.test(path)) return []
  const isTest = isTestFile(path)
  const isEntry = entryPoints.test(path) || all.some((line) => /^#!|^if __name__ ==/.test(line))
  const codeOf = (line: string): string => line.replace(/(?:^|\s)(?:\/\/|#(?!\[)).*$/, '')
  return added.flatMap((line, at) => {
    const code = codeOf(line)
    const say = (what: string): readonly string[] => [`${what}: ${shorten(code.trim(), 100)}`]
    const isHook = plugins.test(path) && (isPlugin || path.endsWith('conftest.py'))
    if (replacing.test(code) && !(isTest && !isSure) && !isHook)
      return say('changes the assertions of the tests')
    if (isTest) return []
    const before = added.slice(Math.max(0, at - 2), at + 1).map(codeOf)
    const isAsked = before.some((each) => asking.test(each) || (askingNear.test(each) && !isEntry))
    const isReached = /^\S/.test(code) && !/=>|\bfunction\b|^if\b|\.on/.test(code)
    if (ending.test(code) && (isSure ? isAsked || (isReached && !isEntry) : !isEntry))
      return say('decides how the test run ends')
    return asking.test(code) && !(isSure && (settings.test(path) || !decides.test(code)))
      ? say('behaves in another way when it is tested')
      : []
  })
}

/** A condition, not merely a name with a number of the worker in it. */
const decides = /\b(?:if|unless|in|match|case|when)\b|(?<!\?)\?(?![?.])|&&|\|\||[!=]=/
