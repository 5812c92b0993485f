class Tollgate < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

  @ARCHIVES@
  def install
    prefix.install Dir["*"]
    (share/"tollgate/installed-by").atomic_write "Homebrew; update with `brew upgrade tollgate`\n"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tollgate --version")
  end
end
