// Parameter lists of functions and lambdas.
#include "compiler/Syntax/ParserState.h"

#include "llvm/ADT/StringSet.h"

namespace kiln {

using namespace ast;

/// Reads parameters up to `close`, which stays. Lambdas have no annotations.
bool Parser::parseParameters(TokenKind close, bool isLambda,
                             llvm::SmallVectorImpl<Parameter> &parameters) {
  bool isKeywordOnly = false;
  bool wantsKeyword = false; // After a bare `*`.
  while (!at(close)) {
    SourceRange where = rangeOf(current());
    if (accept(TokenKind::Slash)) {
      bool isFirst = parameters.empty();
      for (Parameter &parameter : parameters) {
        isFirst |= parameter.kind != ParameterKind::Normal;
        parameter.kind = ParameterKind::PositionalOnly;
      }
      if (isFirst) {
        error(DiagKind::SyntaxParameterOrder, where, "'/' must follow a plain parameter");
        return false;
      }
    } else if (at(TokenKind::Star) && (kindAt(1) == TokenKind::Comma || kindAt(1) == close)) {
      if (isKeywordOnly || kindAt(1) == close) {
        error(DiagKind::SyntaxParameterOrder, where,
              isKeywordOnly ? "'*' may stand once" : "a parameter must follow '*'");
        return false;
      }
      consume();
      isKeywordOnly = wantsKeyword = true;
    } else {
      Parameter parameter;
      if (!parseParameter(isLambda, parameter))
        return false;
      bool isVarArgs = parameter.kind == ParameterKind::VarArgs;
      if (isVarArgs && isKeywordOnly) {
        error(DiagKind::SyntaxParameterOrder, where, "'*' may stand once");
        return false;
      }
      isKeywordOnly |= isVarArgs;
      if (parameter.kind == ParameterKind::Normal && isKeywordOnly) {
        parameter.kind = ParameterKind::KeywordOnly;
        wantsKeyword = false;
      }
      parameters.push_back(parameter);
    }
    if (!at(close) && !accept(TokenKind::Comma))
      return isLambda ? true : expectCloser(close);
  }
  if (wantsKeyword) {
    error(DiagKind::SyntaxParameterOrder, rangeOf(current()), "a parameter must follow '*'");
    return false;
  }
  return checkParameters(parameters);
}

/// ['*' | '**'] NAME [':' annotation] ['=' expression]
bool Parser::parseParameter(bool isLambda, Parameter &parameter) {
  uint32_t begin = current().begin;
  if (accept(TokenKind::Star))
    parameter.kind = ParameterKind::VarArgs;
  else if (accept(TokenKind::StarStar))
    parameter.kind = ParameterKind::VarKeywords;
  if (!parseIdentifier(parameter.name))
    return false;
  if (!isLambda && accept(TokenKind::Colon)) {
    bool isStarred = parameter.kind == ParameterKind::VarArgs && at(TokenKind::Star);
    parameter.annotation = isStarred ? parseStarred() : parseExpression();
    if (!parameter.annotation)
      return false;
  }
  if (at(TokenKind::Equal)) {
    if (parameter.kind != ParameterKind::Normal) {
      error(DiagKind::SyntaxParameterOrder, rangeOf(current()),
            "'*' and '**' parameters have no default");
      return false;
    }
    consume();
    parameter.defaultValue = parseExpression();
    if (!parameter.defaultValue)
      return false;
  }
  parameter.range = rangeFrom(begin);
  return true;
}

bool Parser::checkParameters(llvm::ArrayRef<Parameter> parameters) {
  llvm::StringSet<> names;
  bool hadDefault = false;
  for (const Parameter &parameter : parameters) {
    if (!names.insert(parameter.name.name).second) {
      error(DiagKind::SyntaxDuplicateParameter, parameter.name.range, parameter.name.name);
      return false;
    }
    if (&parameter != &parameters.front() && (&parameter)[-1].kind == ParameterKind::VarKeywords) {
      error(DiagKind::SyntaxParameterOrder, parameter.range, "'**' must be the last parameter");
      return false;
    }
    bool isPlain =
        parameter.kind == ParameterKind::Normal || parameter.kind == ParameterKind::PositionalOnly;
    if (isPlain && hadDefault && !parameter.defaultValue) {
      error(DiagKind::SyntaxParameterOrder, parameter.range,
            "a parameter without default follows one with a default");
      return false;
    }
    hadDefault |= isPlain && parameter.defaultValue;
  }
  return true;
}

} // namespace kiln
