/** How the tests of one language look: which files hold them, and by which words cases, skips and assertions are known. */
export interface TestLanguage {
  /** Of the path relative to the root, with `/`. */
  readonly files: RegExp
  readonly comments: RegExp
  readonly cases: RegExp
  readonly skipped: RegExp
  readonly assertions: RegExp
  /** Tests stand in ordinary sources too: a file without a case is none of its. */
  readonly anywhere?: true
}

/** The language of a file that looks like a test by its name; null for any other. */
export function testLanguage(path: string): TestLanguage | null {
  // Every one of the patterns needs one of these; to compile them all takes a hook two milliseconds.
  if (!hints.some((hint) => path.includes(hint))) return null
  return languages().find(({ files }) => files.test(path)) ?? null
}

const hints = ['test', 'Test', 'spec', 'Spec', '.cy.', '.e2e.', 'IT.', '.rs', '.bats']

/** Does its name say that it holds tests? */
export function looksLikeTest(path: string): boolean {
  const language = testLanguage(path)
  return language !== null && (language.anywhere === undefined || /(?:^|[/_])tests?(?:[/_]|\.rs$)/.test(path))
}

/** Made when a file may be a test: so many patterns cost a hook time before any of them is used. */
function languages(): readonly TestLanguage[] {
  known ??= allLanguages()
  return known
}

let known: readonly TestLanguage[] | undefined

const slashes = /^[ \t]*(?:\/\/|\*).*$|\/\*[\s\S]*?\*\//gm
const hashes = /^[ \t]*#.*$/gm

function allLanguages(): readonly TestLanguage[] {
  return [
    {
      files:
        /(?:\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?|(?:^|\/)(?:__tests__|tests?|spec)\/(?:.*\/)?[^/]+\.[cm]?[jt]sx?)$/,
      comments: slashes,
      cases:
        /\b(?:it|test|specify)(?:\.(?:each|for|concurrent|sequential|fails|failing|only|runIf|serial|extend))*\s*(?:\(|`)|\bDeno\.test\s*\(/g,
      skipped:
        /\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.(?:skip|todo|only|skipIf|fixme)\b|\bx(?:it|test|describe|specify)\s*\(|\bf(?:it|describe)\s*\(|\b(?:skip|todo|only)\s*:\s*(?:true|['"`])|\bthis\.skip\(\)|\bt\.skip\(/g,
      assertions:
        /\bexpect(?:TypeOf)?\s*(?:\.\w+\s*)?\(|\bassert\w*\s*[.(]|\.should\b|\bt\.(?:is|not|ok|equal|deepEqual|same|throws|true|false|truthy|falsy|like|match|pass|fail)\w*\s*\(/g,
    },
    {
      files: /(?:^|\/)(?:test_[^/]*|[^/]*_tests?|tests?)\.pyi?$|(?:^|\/)tests?\/(?:.*\/)?[^/]+\.py$/,
      comments: hashes,
      cases: /^[ \t]*(?:async[ \t]+)?def[ \t]+test\w*[ \t]*\(/gm,
      skipped:
        /@(?:pytest\.mark\.)?(?:skip|skipif|xfail)\b|@unittest\.(?:skip|expectedFailure)\w*|\bpytest\.(?:skip|xfail|importorskip)\(|\.skipTest\(|\bSkipTest\b|\bcollect_ignore\b|\bpytestmark\b/g,
      assertions: /\bassert\b|\.assert\w+\(|\bpytest\.(?:raises|warns|approx)\b/g,
    },
    {
      files: /_test\.go$/,
      comments: slashes,
      cases: /^func (?:Test|Fuzz|Example)\w*\(/gm,
      skipped: /\.Skip(?:f|Now)?\(|\btesting\.Short\(\)/g,
      assertions: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt)\.\w+\(/g,
    },
    {
      files: /\.rs$/,
      comments: slashes,
      cases: /#\[(?:\w+::)*test(?:\([^)]*\))?\]|#\[(?:rstest|test_case|proptest|quickcheck)\b/g,
      skipped: /#\[ignore\b/g,
      assertions: /\b(?:debug_)?(?:assert|assert_eq|assert_ne|assert_matches|prop_assert\w*|panic)!/g,
      anywhere: true,
    },
    {
      files: /_(?:spec|test)\.rb$|(?:^|\/)test_[^/]*\.rb$/,
      comments: hashes,
      cases: /^[ \t]*(?:it|specify|scenario|example|test)\b|^[ \t]*def test_\w+/gm,
      skipped:
        /^[ \t]*x(?:it|describe|context|specify)\b|^[ \t]*(?:skip|pending)\b|,[ \t]*(?:skip|pending):/gm,
      assertions: /\bexpect\b|\bassert\w*\b|\brefute\w*\b|\bshould\b|\bmust_\w+/g,
    },
    {
      files: /Test\.php$/,
      comments: slashes,
      cases: /\bfunction\s+test\w*\s*\(|@test\b|#\[Test\]|\b(?:it|test)\(/g,
      skipped: /\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(/g,
      assertions: /\bassert\w+\(|\bexpect\w*\(/g,
    },
    {
      files:
        /(?:Tests?|IT|Spec)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|swift)$|(?:^|\/)Test[A-Z][^/]*\.(?:java|kt|cs)$/,
      comments: slashes,
      cases:
        /@(?:Test|ParameterizedTest|RepeatedTest)\b|\[(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bfunc\s+test\w*\s*\(|\b(?:test|it)\s*\(/g,
      skipped: /@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=|\bXCTSkip\w*|\bAssume\.\w+/g,
      assertions:
        /\bassert\w*\s*[.(]|\bAssert\.\w+|\bXCTAssert\w*|\.Should\(|\bexpect\w*\s*\(|\bverify\s*\(/g,
    },
    {
      files: /_test\.(?:exs|dart|clj|cljc|cljs)$/,
      comments: hashes,
      cases: /^[ \t]*test\b|\bdeftest\b|\btestWidgets\(/gm,
      skipped: /@tag\s+:?skip|\bskip:/g,
      assertions: /\b(?:assert|refute)\w*\b|\bexpect\(|\(is\b/g,
    },
    {
      files: /\.bats$|(?:^|\/)(?:test_[^/]*|[^/]*_test)\.sh$/,
      comments: /^[ \t]*#(?!!).*$/gm,
      cases: /^[ \t]*@test\b|^[ \t]*(?:function[ \t]+)?test\w*[ \t]*\(\)/gm,
      skipped: /^[ \t]*skip\b/gm,
      assertions: /\bassert\w*\b|^[ \t]*\[\[?[ \t]/gm,
    },
    {
      files: /(?:^|\/)(?:test_[^/]*|[^/]*[_-](?:unit)?tests?)\.(?:c|cc|cpp|cxx|h|hpp)$/,
      comments: slashes,
      cases: /\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE|START_TEST)\s*\(/g,
      skipped: /\bGTEST_SKIP\b|\bDISABLED_|\bSKIP\(/g,
      assertions:
        /\b(?:EXPECT|ASSERT|CHECK|REQUIRE|BOOST_CHECK|BOOST_REQUIRE|BOOST_TEST)(?:_\w+)?\s*\(|\bassert\s*\(|\bck_assert\w*/g,
    },
  ]
}
