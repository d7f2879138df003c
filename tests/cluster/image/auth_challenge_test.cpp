#include "lockstep/cluster/image/auth_challenge.h"

#include <gmock/gmock.h>

#include "lockstep/cluster/http_url.h"
#include "lockstep/cluster/image/base64.h"

namespace lockstep::cluster {
namespace {

TEST(AuthChallenge, ParametersMayHaveCommasAndQuotes) {
  const auto found = parse_challenges(
      R"(Bearer realm="https://a/token",service="a b",scope="repository:x:pull,push", Basic realm="\"x\"")");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].scheme, "bearer");
  EXPECT_EQ(found[0].parameter("realm"), "https://a/token");
  EXPECT_EQ(found[0].parameter("scope"), "repository:x:pull,push");
  EXPECT_EQ(found[1].scheme, "basic");
  EXPECT_EQ(found[1].parameter("realm"), "\"x\"");
  EXPECT_EQ(found[1].parameter("scope"), "");
}

TEST(AuthChallenge, WhatCannotBeReadEndsTheList) {
  EXPECT_TRUE(parse_challenges("").empty());
  EXPECT_TRUE(parse_challenges("realm=\"x\"").empty());
  EXPECT_TRUE(parse_challenges("=,\"").empty());
  EXPECT_TRUE(parse_challenges("Basic = \\").empty());
  EXPECT_EQ(parse_challenges("Basic realm=\"open").size(), 1);
}

TEST(Base64, GoesThereAndBack) {
  EXPECT_EQ(base64_encoded("AWS:secret"), "QVdTOnNlY3JldA==");
  for (const std::string bytes :
       {std::string(), std::string("a"), std::string("ab"), std::string("\0\xff\n", 3)}) {
    EXPECT_EQ(base64_decoded(base64_encoded(bytes)), bytes);
  }
  for (const char* text : {"abc", "====", "a?==", "AWS:secret=="})
    EXPECT_EQ(base64_decoded(text), std::nullopt) << text;
}

TEST(HttpUrl, IsAnOriginAndAPath) {
  EXPECT_EQ(HttpUrl::parse("https://a:1/b?c#d")->origin, "https://a:1");
  EXPECT_EQ(HttpUrl::parse("https://a:1/b?c#d")->path, "/b?c");
  EXPECT_EQ(HttpUrl::parse("http://a?x=1")->path, "/?x=1");
  for (const char* text : {"", "/b", "ftp://a", "http://", "https:///b"})
    EXPECT_FALSE(HttpUrl::parse(text)) << text;
}

TEST(HttpUrl, RedirectionsKeepWhatTheyDoNotName) {
  const HttpUrl from{"https://a", "/b"};
  EXPECT_EQ(from.redirected("/c?d")->origin, "https://a");
  EXPECT_EQ(from.redirected("//e/f")->origin, "https://e");
  EXPECT_EQ(from.redirected("http://g/")->origin, "http://g");
  EXPECT_FALSE(from.redirected("h"));
}

}  // namespace
}  // namespace lockstep::cluster
