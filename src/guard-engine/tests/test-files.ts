import { anyOf } from '../../core/any-of.ts'
import { sha256 } from '../../io/sha256.ts'

/** The tests of one language: which files contain them, and the syntax of cases, skips and assertions. */
export interface TestLanguage {
  /** Matches the path relative to the root, with `/`. */
  readonly files: RegExp
  readonly comments: RegExp
  readonly cases: RegExp
  readonly skipped: RegExp
  readonly assertions: RegExp
  /** Each test with its `name`, and `off` when it is skipped by a plain mark. */
  readonly named?: RegExp
  /** Makes a test pass that fails. */
  readonly inverted?: RegExp
  /** Ends the run of all tests, or keeps them from failing it. */
  readonly ends?: RegExp
  /** Tests can be in ordinary sources, so a file without a case is not a test file. */
  readonly anywhere?: true
}

/** The language of a file whose name looks like a test; null for any other. */
export function testLanguage(path: string): TestLanguage | null {
  // Every pattern needs one of these. Compiling them all takes a hook two milliseconds.
  if (!hint.test(path)) return null
  return languages().find(({ files }) => files.test(path)) ?? null
}

const hint = /[tT]est|[sS]pec|\.cy\.|\.e2e\.|IT\.|\.rs|\.bats|\.t$/

/** Identifies the text of a test file in a snapshot. */
export function testHash(text: string): string {
  return sha256(text).slice(0, 16)
}

/** Whether the name says that the file contains tests. */
export function isTestFile(path: string): boolean {
  const language = testLanguage(path)
  return language !== null && (language.anywhere === undefined || /(?:^|[/_])tests?(?:[/_]|\.rs$)/.test(path))
}

/** Whether the file belongs to tests: one that contains them, a helper, what they compare with. */
export function isOfTests(path: string): boolean {
  return isTestFile(path) || besideTests.test(path)
}

const besideTests =
  /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|testdata)\/|(?:^|\/)conftest\.py$|\.snap(?:shot)?$|(?:^|\/)t\/.*\.t$/

/** Whether a change of the file can be a new test. Shell scripts named for tests hold them in no form of their own. */
export function holdsTests(path: string): boolean {
  return isTestFile(path) || /(?:^|\/)(?:(?:[^/]*[-_.])?tests?|tests?\/(?:.*\/)?[^/]+)\.(?:ba)?sh$/.test(path)
}

/** Created on demand, because compiling so many patterns takes a hook time. */
function languages(): readonly TestLanguage[] {
  known ??= allLanguages()
  return known
}

let known: readonly TestLanguage[] | undefined

const slashes = /^[ \t]*(?:\/\/|\*).*$|\/\*[\s\S]*?\*\//gm
/** Also tests in a text, which nothing runs. */
const slashesOrTests = new RegExp(
  String.raw`${slashes.source}|\x60(?<=^[^\x60\n]*(?:\x60[^\x60\n]*\x60[^\x60\n]*)*[=(,]\s?\x60)[^\x60]*\n\s*(?:it|test)\([^\x60]*\x60`,
  'gm',
)
const hashes = /^[ \t]*#.*$/gm

function allLanguages(): readonly TestLanguage[] {
  return [
    {
      files:
        /(?:\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?|(?:^|\/)(?:__tests__|tests?|spec)\/(?:.*\/)?[^/]+\.[cm]?[jt]sx?)$/,
      comments: slashesOrTests,
      cases:
        /\b(?:it|test|specify)(?:\.(?:each|for|concurrent|sequential|fails|failing|only|runIf|serial|extend))*\s*(?:\(|`)|\bDeno\.test\s*\(/g,
      skipped: anyOf(
        [
          /\b(?:it|test|describe|suite|context|specify)(?:\.\w+){0,9}\.(?:skip|todo|todoIf|only|skipIf|runIf|if|ignore|fixme)\b/,
          /\bx(?:it|test|describe|specify)\s*\(/,
          /\bf(?:it|describe)\s*\(/,
          /\b(?:skip|todo|only)\s*:\s*(?:true|['"`])/,
          /\bDeno\.test\(\s*\{[^}]{0,500}\bignore\s*:\s*true/,
          /^[ \t]*(?:it|test|specify)\((?:'[^'\n]*'|"[^"\n]*")\)[ \t]*;?[ \t]*$/,
          /\bthis\.skip\(\)/,
          /\bt\.skip\(/,
          /^[ \t]*(?:process|Deno)\.(?:exit|reallyExit)\(0?\)/,
          /=>\s*\{\s*return[ \t]*;?[ \t]*$/,
          /(?:=>|\))\s*\{\s*return[ \t]*;(?!\s*\})(?=.)/,
          /\btry\s*\{[^}]{0,500}\b(?:assert|expect)\b[^}]{0,500}\}\s*catch[^{}]{0,100}\{\s*\}/,
          /^[ \t]*(?:const|let|var)\s+(?:test|it|assert|expect)\s*=\s*(?:\([^)]*\)\s*=>|\w+\s*=>|\{|function)/,
          /^[ \t]*function\s+(?:test|it|assert|expect)\s*\(/,
          /^if \((?:false|0)\)/,
          /^[ \t]*for \(.{0,200}\bof \[\s*\]\)/,
          /\.each\(\[\s*\]\)/,
          /\b(?:assert|expect)\b[^\n]{0,300}\|\|\s*true\b/,
        ],
        'gm',
      ),
      assertions:
        /\bexpect(?:TypeOf)?\s*(?:\.\w+\s*)?\(|\bassert\w*\s*[.(]|\.should\b|\bt\.(?:is|not|ok|equal|deepEqual|same|throws|true|false|truthy|falsy|like|match|pass|fail)\w*\s*\(/g,
      named:
        /(?<start>^[ \t]*)?\b(?:it|test|specify)(?:\.(?:(?<off>skip|todo)\b|\w+)){0,9}\s*\(\s*(?<quote>["'`])(?<name>[^\n]{0,200}?)\k<quote>(?<empty>\)[ \t]*;?[ \t]*$)?/gm,
      inverted: /\b(?:it|test)(?:\.\w+){0,9}\.(?:fails|failing)\b/g,
      ends: /^process\.(?:exit|reallyExit)\(0?\)/m,
    },
    {
      files: /(?:^|\/)(?:test_[^/]*|[^/]*_tests?|tests?)\.pyi?$|(?:^|\/)tests?\/(?:.*\/)?[^/]+\.py$/,
      // A string by itself, which may be a test that was put away.
      comments: /^[ \t]*#.*$|^[ \t]*(?:"""[\s\S]*?"""|'''[\s\S]*?''')[ \t]*$/gm,
      named:
        /(?<off>@(?:pytest\.mark\.)?(?:skip|xfail)\b[^\n]*\n[ \t]*)?^[ \t]*(?:async[ \t]+)?def[ \t]+(?<name>test\w*)/gm,
      cases: /^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*[ \t]*\(/gm,
      skipped: anyOf(
        [
          /@(?:pytest\.mark\.)?(?:skip|skipif|xfail)\b/,
          /@unittest\.(?:skip|expectedFailure)\w*/,
          /\bpytest\.(?:skip|xfail|importorskip)\(/,
          /\.skipTest\(/,
          /\bSkipTest\b/,
          /\bcollect_ignore\b/,
          /\bpytestmark\b/,
          /^[ \t]*(?:os\._exit|sys\.exit|exit|quit)\(0?\)/,
          /^[ \t]*raise SystemExit(?:\(0?\))?[ \t]*$/,
          /^[ \t]*(?:test\w*\.)?__test__\s*=\s*False/,
          /^def load_tests\(/,
          /def test\w*\([^)]{0,300}\)[^:\n]{0,300}:\s*\n\s*return[ \t]*$/,
          /\btry:[ \t]*\n[^\n]*\bassert[^\n]*\n\s*except[^\n]*:\s*pass\b/,
          /^if (?:False|0)\b/,
          /^[ \t]*del test\w*/,
          /^[ \t]*test\w*\s*=\s*None\b/,
          /\bwith (?:contextlib\.)?suppress\((?:AssertionError|Exception|BaseException)\)/,
          /\.parametrize\([^[\n]+\[\s*\]/,
          /^[ \t]*assert ?\((?:[^()[\]{}"',\n]|"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)|\[[^\]\n]*\]|\{[^}\n]*\})*,(?:[^()\n]|\([^()\n]*\))*\)[ \t]*$/,
          /^[ \t]*assert\b[^\n]*\bor True[ \t]*$/,
        ],
        'gm',
      ),
      assertions: /\bassert\b|\.assert\w+\(|\bpytest\.(?:raises|warns|approx)\b/g,
      ends: /^(?:os\._exit|sys\.exit|exit|quit)\(0?\)|^raise SystemExit\b|(?<![\s\S])(?![\s\S]*\b(?:fork|subprocess|multiprocessing)\b)[\s\S]*\bos\._exit\(0\)/m,
    },
    {
      files: /_test\.go$/,
      // Without build tags, which can leave the file out.
      comments: /^[ \t]*(?:\/\/(?!go:build| ?\+build)|\*).*$|\/\*[\s\S]*?\*\//gm,
      cases: /^func (?:Test|Fuzz|Example)\w*\(/gm,
      skipped:
        /\.Skip(?:f|Now)?\(|\btesting\.Short\(\)|(?:^|\{)[ \t]*os\.Exit\(0\)|^func Test\w*\([^)]*\) \{\s*return\b|^\/\/(?:go:build| ?\+build)\b/gm,
      // What `TestMain` and `init` do, unless they ask whether a test started the process. A variable that is not set is no such question.
      ends: /^func TestMain\([^)]*\) \{(?:(?!^\}|\.Run\()[\s\S]){0,4000}^\}|^func (?:TestMain|init)\([^)]*\) \{(?:\bif [^{\n]*\b(?:os\.(?:Getenv|LookupEnv|Args)|flag\.)[^{\n]*\{(?:(?!\.Run\()[^}])*\}|(?!^\}|\bif [^{\n]*\b(?:os\.(?:Getenv|LookupEnv|Args)|flag\.))[\s\S]){0,4000}?\b(?:os|syscall)\.Exit\(0\)|^func (?:TestMain|init)\([^)]*\) \{(?:(?!^\})[\s\S]){0,4000}?(?:\bos\.Getenv\((?:"\w+"\) (?:== ""|!= "[^"]+")|"(?:HOME|PATH|USER|PWD|SHELL|LANG|TERM|LOGNAME)"\) [!=]= "[^"]*")|\bos\.LookupEnv\("\w+"\); !\w+) \{[^}]*\bos\.Exit\(0\)/m,
      assertions: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt)\.\w+\(/g,
    },
    {
      files: /\.rs$/,
      comments: slashes,
      cases: /#\[(?:\w+::)*test(?:\([^)]*\))?\]|#\[(?:rstest|test_case|proptest|quickcheck)\b/g,
      skipped: anyOf(
        [
          /#\[ignore\b/,
          /#!?\[cfg\((?!(?:test|debug_assertions)\)|feature|target_)/,
          /#\[cfg\(feature\b[^\]]{0,300}\]\s*#\[(?:\w+::)*test\b/,
          /\btest\]\s*#\[cfg\(feature\b/,
          /^#!\[cfg\(feature\b/,
          /#\[cfg_attr\([^\]]{0,300}\bignore\b/,
          /\bif cfg!\((?:not\()?feature\b[^{]{0,300}\{\s*(?:debug_)?assert/,
          /\bprocess::exit\(0\)/,
          /\btest\]\s*(?:async )?fn \w+\([^)]*\)[^{;]*\{\s*return;/,
          /\bcatch_unwind\(\|\|\s*\{?\s*(?:debug_)?assert/,
        ],
        'gm',
      ),
      inverted: /#\[should_panic\b/g,
      assertions: /\b(?:debug_)?(?:assert|assert_eq|assert_ne|assert_matches|prop_assert\w*|panic)!/g,
      anywhere: true,
    },
    {
      files: /_(?:spec|test)\.rb$|(?:^|\/)test_[^/]*\.rb$|(?:^|\/)spec\/(?:.*\/)?[^/]+\.rb$/,
      comments: hashes,
      cases: /^[ \t]*(?:it|specify|scenario|example|test)\b|^[ \t]*def test_\w+/gm,
      skipped:
        /^[ \t]*x(?:it|describe|context|specify)\b|^[ \t]*(?:skip|pending)\b|[{;][ \t]*(?:skip|pending)(?=[ \t]*(?:['"}]|$))|^[ \t]*(?:it|specify|test|expect|assert)\b[^\n]*\bif false\b|,[ \t]*(?:skip|pending):|^[ \t]*exit!?(?:[ (]*(?:0|true)\)?)?[ \t]*$/gm,
      assertions: /\bexpect\b|\bassert\w*\b|\brefute\w*\b|\bshould\b|\bmust_\w+/g,
      ends: /^exit!?(?:[ (]*(?:0|true)\)?)?[ \t]*$|\bat_exit\b.*\bexit!/m,
    },
    {
      files: /Test\.php$/,
      comments: slashes,
      cases: /\bfunction\s+test\w*\s*\(|@test\b|#\[Test\]|\b(?:it|test)\(/g,
      skipped:
        /\bmarkTest(?:Skipped|Incomplete)\(|@requires\b|#\[Requires\w*|\bexpectNotToPerformAssertions\b|->(?:skip|todo)\(|^[ \t]*(?:exit|die)(?:\(0?\))?;/gm,
      assertions: /\bassert\w+\(|\bexpect\w*\(/g,
    },
    {
      files:
        /(?:Tests?|IT|Spec)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|swift)$|(?:^|\/)Test[A-Z][^/]*\.(?:java|kt|cs)$|(?:^|\/)src\/test\/(?:.*\/)?[^/]+\.(?:java|kt|groovy|scala)$/,
      comments: slashes,
      cases:
        /@(?:Test|ParameterizedTest|RepeatedTest)\b|\[(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bfunc\s+test\w*\s*\(|\b(?:test|it)\s*\(/g,
      skipped:
        /@(?:Disabled|Enabled|Ignore)\w*|\[Ignore\b|\bassum(?:e[A-Z]\w*|ing\w*)\(|\bAssert\.(?:Inconclusive|Ignore|Skip\w*|Pass)\(|\bExplicit\s*=\s*true|^[ \t]*#if (?:false|0|NEVER)\b|\bSkip\s*=|@Test\b[^{;]{0,300}\{\s*return;|\bXCTSkip\w*|\bAssume\.\w+|\b(?:System\.exit|Environment\.Exit)\(0\)/gm,
      assertions:
        /\bassert\w*\s*[.(]|\bAssert\.\w+|\bXCTAssert\w*|\.Should\(|\bexpect\w*\s*\(|\bverify\s*\(/g,
      ends: /\bhalt\(0\)|\bstatic\s*\{[^}]{0,4000}\bSystem\.exit\(0\)/,
    },
    {
      files: /_test\.(?:exs|dart|clj|cljc|cljs)$/,
      comments: hashes,
      cases: /^[ \t]*test\b|\bdeftest\b|\btestWidgets\(/gm,
      skipped: /@(?:module|describe)?tag\s+:?skip|\bskip:|\bSystem\.halt\(0?\)/g,
      assertions: /\b(?:assert|refute)\w*\b|\bexpect\(|\(is\b/g,
    },
    {
      files: /\.bats$|(?:^|\/)(?:test_[^/]*|[^/]*_test)\.sh$/,
      comments: /^[ \t]*#(?!!).*$/gm,
      cases: /^[ \t]*@test\b|^[ \t]*(?:function[ \t]+)?test\w*[ \t]*\(\)/gm,
      skipped:
        /^[ \t]*skip\b|^[ \t]*exit(?:[ \t]+0)?[ \t]*$|^[ \t]*run \[[^\n]*(?=\n[ \t]*(?:\}|run \[))|^set \+e\b|^[ \t]*trap - (?:ERR|DEBUG)\b|^[ \t]*@test\b[^\n]*\{\s*(?:return|exit)(?: 0)?\s*[;\n]|^[ \t]*(?:\[|test|run)[ \t]*\(\)/gm,
      assertions: /\bassert\w*\b|^[ \t]*\[\[?[ \t]/gm,
    },
    {
      files: /(?:^|\/)x?t\/(?:.*\/)?[^/]+\.t$/,
      comments: hashes,
      cases: /^[ \t]*subtest\b|^[ \t]*use Test(?:2|::\w+)/gm,
      skipped:
        /\bskip_all\b|\b(?:SKIP|TODO):|\$TODO\b|\bskip\(|^[ \t]*exit\b|^__END__$|\*(?:main::)?(?:is|ok|like|is_deeply)\s*=/gm,
      assertions:
        /^[ \t]*(?:is|isnt|ok|like|unlike|cmp_ok|is_deeply|isa_ok|can_ok|throws_ok|dies_ok|lives_ok)\b[ \t(]/gm,
    },
    {
      files: /(?:^|\/)(?:test_[^/]*|[^/]*[_-](?:unit)?tests?)\.(?:c|cc|cpp|cxx|h|hpp)$/,
      comments: slashes,
      cases: /\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE|START_TEST)\s*\(/g,
      skipped: /\bGTEST_SKIP\b|\bDISABLED_|\bSKIP\(|\bexit\(0\)|^[ \t]*#\s*if\s+(?:0|false)\b/gm,
      assertions:
        /\b(?:EXPECT|ASSERT|CHECK|REQUIRE|BOOST_CHECK|BOOST_REQUIRE|BOOST_TEST)(?:_\w+)?\s*\(|\bassert\s*\(|\bck_assert\w*/g,
    },
  ]
}
